package views

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/ui"
)

// story builds the sentences about an object: first the fact, then the cause,
// then what can be done.
type story []ui.Span

func (t *story) warn(role ui.Role, text string) {
	*t = append(*t, ui.Span{Text: t.gap() + text, Role: role})
}

// hint offers a key: "a reserves it".
func (t *story) hint(key, does string) {
	*t = append(*t, ui.Span{Text: t.gap()}, ui.Span{Text: key, Role: ui.Key}, ui.Span{Text: " " + does, Role: ui.Dim})
}

func (t *story) gap() string {
	if len(*t) == 0 {
		return ""
	}
	return " "
}

// withoutHints leaves out the keys, for a page where they do something else.
func withoutHints(spans []ui.Span) []ui.Span {
	var out []ui.Span
	for i := 0; i < len(spans); i++ {
		if spans[i].Role == ui.Key {
			i++ // what it does
			continue
		}
		out = append(out, spans[i])
	}
	return out
}

func (s *session) defaultClass() *kube.Class {
	for _, c := range s.snap.Classes {
		if c.Effective {
			return c
		}
	}
	return nil
}

// ago says when the phase last changed (" 12d ago"). It is empty where the
// server does not say.
func (s *session) ago(pv *corev1.PersistentVolume) string {
	if t := pv.Status.LastPhaseTransitionTime; t != nil {
		return " " + age(*t, s.now) + " ago"
	}
	return ""
}

func orText(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return strings.TrimSuffix(text, ".")
}
