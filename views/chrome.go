package views

import (
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/ui"
)

// chrome says where the user is, and whether what is shown is true.
func (s *session) chrome() ui.Chrome {
	id := s.opts.Identity
	where := "all namespaces"
	switch {
	case s.snap.Scope != "":
		where = "namespace " + s.snap.Scope + " only"
	case s.namespace != "":
		where = "namespace " + s.namespace
	}
	c := ui.Chrome{Place: []ui.Span{{Text: id.Context, Role: ui.Strong}, {Text: s.glyph(" · ", " - ") + where, Role: ui.Dim}}}
	if s.opts.ReadOnly {
		c.Place = append(c.Place, ui.Span{Text: "  read-only", Role: ui.Notice})
	}
	if s.opts.DryRun {
		c.Place = append(c.Place, ui.Span{Text: "  dry run only", Role: ui.Notice})
	}
	c.Status = append(s.linkSpans(), ui.Span{Text: "  " + id.User, Role: ui.Dim})
	if v := s.snap.Link.Version; v != "" {
		c.Status = append(c.Status, ui.Span{Text: "  " + v, Role: ui.Dim})
	}
	c.Banner = s.banner()
	return c
}

func (s *session) linkSpans() []ui.Span {
	link := s.snap.Link
	since := lasted(s.now.Sub(link.Since))
	switch link.Phase {
	case kube.Live:
		return []ui.Span{{Text: s.glyph("●", "*") + " live", Role: ui.Good}}
	case kube.Stale:
		return []ui.Span{{Text: s.glyph("◌", "-") + " stale for " + since, Role: ui.Warn}}
	case kube.Unreachable:
		return []ui.Span{{Text: s.glyph("✕", "x") + " unreachable for " + since, Role: ui.Bad}}
	default:
		return []ui.Span{{Text: s.glyph("◷", "~") + " connecting", Role: ui.Notice}}
	}
}

// banner is what must not be missed: that what is shown may be old, or that
// part of it is hidden.
func (s *session) banner() []ui.Span {
	switch link := s.snap.Link; link.Phase {
	case kube.Unreachable:
		return []ui.Span{{Text: "The API server does not answer: " + orText(link.Err, "no reason known") + ". What is shown is " + lasted(s.now.Sub(link.Since)) + " old. Trying on.", Role: ui.Bad}}
	case kube.Stale:
		return []ui.Span{{Text: "The API server answers, but no change has come for " + lasted(s.now.Sub(link.Since)) + ": what is shown may be old.", Role: ui.Warn}}
	case kube.Connecting:
		if link.Err != "" {
			return []ui.Span{{Text: "Connecting: " + link.Err + ". Trying on.", Role: ui.Warn}}
		}
	case kube.Live:
	}
	// The order is that of importance; one line is all there is room for.
	for _, r := range []kube.Resource{kube.PersistentVolumes, kube.PersistentVolumeClaims, kube.Pods, kube.StorageClasses} {
		if st := s.readState(r); st.Phase == kube.Forbidden {
			return []ui.Span{{Text: "You may not " + st.Missing + ": what depends on it is shown as ?.", Role: ui.Warn}}
		}
	}
	return nil
}
