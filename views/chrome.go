package views

import (
	"slices"
	"strings"

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
	// The modes come first: a long name of a context must not hide them.
	var c ui.Chrome
	if s.opts.Demo {
		c.Place = append(c.Place, ui.Span{Text: "demo: nothing here is real  ", Role: ui.Notice})
	}
	if s.opts.ReadOnly {
		c.Place = append(c.Place, ui.Span{Text: "read-only  ", Role: ui.Notice})
	}
	if s.opts.DryRun {
		c.Place = append(c.Place, ui.Span{Text: "dry run only  ", Role: ui.Notice})
	}
	c.Place = append(c.Place, ui.Span{Text: id.Context, Role: ui.Strong}, ui.Span{Text: s.glyph(" · ", " - ") + where, Role: ui.Dim})
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
		return []ui.Span{{Text: brokenLink(link) + " What is shown is " + lasted(s.now.Sub(link.Since)) + " old. Trying on.", Role: ui.Bad}}
	case kube.Stale:
		text := "The API server answers, but no change has come for " + lasted(s.now.Sub(link.Since)) + ": what is shown may be old."
		if link.Err != "" {
			text += " " + sentence(link.Err)
		}
		return []ui.Span{{Text: text, Role: ui.Warn}}
	case kube.Connecting:
		if link.Err != "" {
			return []ui.Span{{Text: "Connecting: " + link.Err + ". Trying on.", Role: ui.Warn}}
		}
	case kube.Live:
	}
	if spans := s.unfinishedBanner(); spans != nil {
		return spans
	}
	if s.opts.Notice != "" {
		return []ui.Span{{Text: s.opts.Notice, Role: ui.Notice}}
	}
	var missing, failing []string
	for _, r := range watched() {
		st := s.readState(r)
		if st.Missing != "" && !slices.Contains(missing, st.Missing) {
			missing = append(missing, st.Missing)
		}
		if st.Err != "" {
			failing = append(failing, string(r)+": "+st.Err)
		}
	}
	switch {
	case len(failing) > 0:
		return []ui.Span{{Text: "Can't be read: " + strings.Join(failing, "; ") + ". Trying on.", Role: ui.Warn}}
	case len(missing) > 0:
		return []ui.Span{{Text: "You may not " + strings.Join(missing, ", ") + ": what depends on it is not shown, or as ?.", Role: ui.Warn}}
	default:
		return nil
	}
}

// brokenLink says in a sentence what is wrong with the connection. Only some
// failures mean that nobody answers.
func brokenLink(link kube.Link) string {
	switch {
	case link.Err == "":
		return "The API server does not answer."
	case link.Kind == kube.KindUnreachable || link.Kind == kube.KindTimeout:
		return "The API server does not answer: " + sentence(link.Err)
	default:
		return sentence(link.Err)
	}
}

// watched are the resources that are read, in the order of importance.
func watched() []kube.Resource {
	return []kube.Resource{
		kube.PersistentVolumes, kube.PersistentVolumeClaims, kube.Pods, kube.StorageClasses,
		kube.StatefulSets, kube.Deployments, kube.ReplicaSets, kube.DaemonSets, kube.Jobs, kube.CronJobs,
	}
}
