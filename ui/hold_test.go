package ui

import (
	"testing"
)

// holding is a page that may not be left.
type holding struct {
	*stubPage
	why string
}

func (h *holding) Holds() string { return h.why }

// TestHolder: a page that holds stays, whatever asks for another one.
func TestHolder(t *testing.T) {
	a := New(Options{Tabs: []Page{&stubPage{title: "one"}, &stubPage{title: "two"}}})
	h := &holding{stubPage: &stubPage{title: "held"}, why: "not yet"}
	a.Push(h)
	a.Push(&stubPage{title: "over it"})
	for name, leave := range map[string]func(){"Pop": a.Pop, "Show": func() { a.Show(1) }} {
		leave()
		if len(a.pushed) != 2 || a.tab != 0 {
			t.Errorf("%s left a page that holds", name)
		}
		if a.notice.Text != "not yet" {
			t.Errorf("%s says %q, want the reason", name, a.notice.Text)
		}
	}
	h.why = ""
	a.Show(1)
	if len(a.pushed) != 0 || a.tab != 1 {
		t.Error("a page that holds no more can't be left")
	}
}
