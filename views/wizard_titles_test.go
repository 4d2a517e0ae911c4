package views

import (
	"strings"
	"testing"

	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/ui"
)

// TestHeadline: where there is little room, the volume goes first, then the
// words; the end of the claim's name stays.
func TestHeadline(t *testing.T) {
	p := &walkPage{session: &session{}, journal: webJournal(t)}
	for room, want := range map[int]string{
		90: "Migrate to ReadWriteOncePod   shop/web-data on " + ui.CutMiddle(webVolume, subjectName),
		60: "Migrate to ReadWriteOncePod   shop/web-data",
		31: "Migrate   shop/web-data",
		23: "Migrate   shop/web-data",
	} {
		title, subject := p.headline(room)
		if got := title + "   " + subject; got != want {
			t.Errorf("in %d: %q, want %q", room, got, want)
		}
	}
	p.run.Direction = migration.Back
	if title, subject := p.headline(31); title != "Undo" || subject != "shop/web-data" {
		t.Errorf("an undo: %q %q", title, subject)
	}
	long := "a-claim-with-quite-a-long-name-0"
	p.journal.Volumes[0].From.Name = long
	for room := 10; room < 100; room++ {
		title, subject := p.headline(room)
		text := strings.TrimRight(title+"   "+subject, " ")
		if ui.Width(text) > room || !strings.Contains(text, "name-0") && room > 20 {
			t.Errorf("in %d: %q", room, text)
		}
	}
}

// TestFullSaysWhatItMakes: nothing is said of a StatefulSet where there is none.
func TestFullSaysWhatItMakes(t *testing.T) {
	r := webRig(t)
	r.press("a", "m")
	r.wantOn("the claim is made anew, too, and the pods stop meanwhile")
	r.wantOff("StatefulSet")
	r.press("esc", "a", "v")
	if shown := strings.Join(strings.Fields(r.dialog()), " "); !strings.Contains(shown, "Pods that use the old claim have to be stopped first") {
		t.Errorf("the move does not say who stops the pods\n%s", r.screen())
	}
}

// TestTabIsShownFirst: where the difference is hidden, the key that shows it is
// named, however small the screen is.
func TestTabIsShownFirst(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {60, 15}} {
		r := newRig(t, shop())
		r.resize(size[0], size[1])
		r.toReview()
		lines := strings.Split(r.screen(), "\n")
		if last := lines[len(lines)-1]; !strings.Contains(last, "tab difference") || !strings.Contains(last, "esc leave") {
			t.Errorf("at %v: %q", size, last)
		}
	}
}
