package views

import (
	"slices"
	"strings"
	"testing"
)

// webRig is the shop with the claim that is to be migrated, and the operation
// that does it.
func webRig(t *testing.T, edit ...func(*Options)) *rig {
	t.Helper()
	r := newRig(t, shop(), edit...)
	r.toWeb()
	return r
}

func (r *rig) toWeb() {
	r.t.Helper()
	r.see(webShop())
	r.cluster.op = newFakeOperation(r.t)
	r.press("/")
	r.typeText("web-data")
	r.press("enter")
}

// review opens the review of the operation.
func review(t *testing.T, edit ...func(*Options)) *rig {
	t.Helper()
	r := newRig(t, shop(), edit...)
	r.toReview()
	return r
}

func (r *rig) toReview() {
	r.t.Helper()
	r.toWeb()
	r.press("a", "m", "f", "enter")
}

// lookAtAll looks at every difference for as long as it takes.
func (r *rig) lookAtAll() {
	r.t.Helper()
	for range 400 {
		unseen := r.walk.unseen()
		if len(unseen) == 0 {
			return
		}
		if here, _ := r.walk.list.Selected(); !slices.Contains(unseen, here) || r.walk.narrow && !r.walk.detail {
			r.press("v")
		}
		if r.press("pgdown"); r.walk.pager.Read(r.walk.diffEnd) {
			r.send(tickMsg(r.walk.now))
		}
	}
	r.t.Fatalf("%v are not looked at\n%s", r.walk.unseen(), r.screen())
}

// runRest asks for the rest, after it was looked at.
func (r *rig) runRest() {
	r.t.Helper()
	r.lookAtAll()
	r.press("r")
}

// started has typed the word, and stands before the first step.
func started(t *testing.T, edit ...func(*fakeOperation)) *rig {
	t.Helper()
	r := newRig(t, shop())
	r.toStart(edit...)
	return r
}

func (r *rig) toStart(edit ...func(*fakeOperation)) {
	r.t.Helper()
	r.toReview()
	for _, e := range edit {
		e(r.cluster.op)
	}
	r.press("enter")
	r.typeText("web-data")
	r.press("enter")
}

// settleWalk lets the diff on the page of the operation have been seen long
// enough.
func (r *rig) settleWalk() {
	r.send(walkSettledMsg{page: r.walk, turn: r.walk.turn, wait: r.walk.wait, shown: true})
}

// approve reads the diff to its end and says yes; a word is typed where one is
// asked for.
func (r *rig) approve(word string) {
	r.t.Helper()
	r.settleWalk()
	r.press("pgdown", "pgdown", "enter")
	if word != "" {
		r.typeText(word)
		r.press("enter")
	}
}

// wantText looks for sentences in the text of the step, which the list beside it
// takes apart on the screen.
func (r *rig) wantText(texts ...string) {
	r.t.Helper()
	flat := strings.Join(strings.Fields(r.walk.pager.Text()), " ")
	for _, text := range texts {
		if !strings.Contains(flat, text) {
			r.t.Errorf("not said: %q\n%s", text, r.screen())
		}
	}
}

// dialog is what stands in the box that is open.
func (r *rig) dialog() string {
	r.t.Helper()
	var b strings.Builder
	from, to := -1, 0
	for line := range strings.SplitSeq(r.screen(), "\n") {
		cells := []rune(line)
		switch at := slices.Index(cells, '╭'); {
		case at >= 0:
			from, to = at+1, slices.Index(cells, '╮')
		case slices.Contains(cells, '╰'):
			return b.String()
		case from > 0:
			b.WriteString(string(cells[from:to]) + "\n")
		}
	}
	r.t.Fatalf("no dialog is open\n%s", r.screen())
	return ""
}
