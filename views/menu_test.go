package views

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
)

// estate has volumes of two claims in two namespaces, one that a Lost claim
// names though it is another one's, and some of nobody.
func estate() kube.Objects {
	deletes := withPolicy(corev1.PersistentVolumeReclaimDelete)
	return kube.Objects{
		Volumes: []*corev1.PersistentVolume{
			pv("pvc-0a3fc775-3872-4c1a-9ef0-00000000000a", corev1.VolumeBound, claimedBy("shop", "data-db-0", "pvc-shop-data-db-0"), deletes),
			pv("pvc-0a3fc775-3872-4c1a-9ef0-00000000000b", corev1.VolumeBound, claimedBy("shop", "data-db-1", "pvc-shop-data-db-1"), deletes),
			pv("pvc-0a3fc775-3872-4c1a-9ef0-00000000000c", corev1.VolumeBound, claimedBy("web", "cache", "pvc-web-cache"), deletes),
			pv("taken", corev1.VolumeBound, claimedBy("legacy", "owner", "pvc-legacy-owner"), deletes),
			pv("free-0", corev1.VolumeAvailable, deletes),
			pv("free-1", corev1.VolumeAvailable, deletes),
		},
		Claims: []*corev1.PersistentVolumeClaim{
			pvc("shop", "data-db-0", corev1.ClaimBound, "pvc-0a3fc775-3872-4c1a-9ef0-00000000000a"),
			pvc("shop", "data-db-1", corev1.ClaimBound, "pvc-0a3fc775-3872-4c1a-9ef0-00000000000b"),
			pvc("web", "cache", corev1.ClaimBound, "pvc-0a3fc775-3872-4c1a-9ef0-00000000000c"),
			pvc("legacy", "owner", corev1.ClaimBound, "taken"),
			pvc("legacy", "misbound", corev1.ClaimLost, "taken"),
		},
		Classes: shop().Classes,
	}
}

func (r *rig) filter(text string) {
	r.press("/")
	r.typeText(text)
	r.press("enter")
}

// bulkNames are the volumes of the bulk page that was opened last.
func (r *rig) bulkNames() []string {
	r.t.Helper()
	if r.bulk == nil {
		r.t.Fatalf("no bulk page was opened:\n%s", r.screen())
	}
	var names []string
	for _, it := range r.bulk.items {
		names = append(names, it.req.Volume.Name)
	}
	slices.Sort(names)
	return names
}

// TestProtectsOnlyWhatIsShown: the one key for many volumes acts on those of
// the table that is on the screen, behind its filter and its namespace, and on
// no others.
func TestProtectsOnlyWhatIsShown(t *testing.T) {
	const a, b, c = "pvc-0a3fc775-3872-4c1a-9ef0-00000000000a", "pvc-0a3fc775-3872-4c1a-9ef0-00000000000b", "pvc-0a3fc775-3872-4c1a-9ef0-00000000000c"
	for name, test := range map[string]struct {
		play func(*rig)
		want []string
	}{
		"volumes":            {func(r *rig) { r.press("a", "P") }, []string{"free-0", "free-1", a, b, c, "taken"}},
		"volumes, filter":    {func(r *rig) { r.filter("free"); r.press("a", "P") }, []string{"free-0", "free-1"}},
		"volumes, namespace": {func(r *rig) { r.press("n"); r.typeText("web"); r.press("enter", "a", "P") }, []string{c}},
		"claims":             {func(r *rig) { r.press("2", "a", "P") }, []string{a, b, c, "taken"}},
		"claims, filter":     {func(r *rig) { r.press("2"); r.filter("data-db-0"); r.press("a", "P") }, []string{a}},
		"claims, namespace": {
			func(r *rig) { r.press("n"); r.typeText("shop"); r.press("enter", "2", "a", "P") }, []string{a, b},
		},
		// The filter of another table is none of this one.
		"claims, volumes filtered": {func(r *rig) { r.filter("free"); r.press("2"); r.filter("cache"); r.press("a", "P") }, []string{c}},
		"risks, filter":            {func(r *rig) { r.press("4"); r.filter("free-1"); r.press("P") }, []string{"free-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			objects := estate()
			for _, class := range objects.Classes {
				// Under a class that keeps data, Delete is a risk of each volume.
				retain := corev1.PersistentVolumeReclaimRetain
				class.ReclaimPolicy = &retain
			}
			r := newRig(t, objects)
			test.play(r)
			if got := r.bulkNames(); !slices.Equal(got, test.want) {
				t.Errorf("it acts on %v, want %v", got, test.want)
			}
		})
	}
	r := newRig(t, estate())
	r.press("2")
	r.filter("misbound")
	r.press("a")
	r.wantOn("Protect all that match the filter not now: none that is shown has a volume of its own")
	r = newRig(t, estate())
	r.press("2", "enter", "a")
	r.wantOff("Protect all")
}

// TestAnotherClaimsVolume: a claim that names another one's volume says whose
// it is, and from there nothing can be done that would take it from that one.
func TestAnotherClaimsVolume(t *testing.T) {
	for _, way := range [][]string{{"a"}, {"enter", "a"}} {
		r := newRig(t, estate())
		r.press("2")
		r.filter("misbound")
		r.press(way...)
		r.wantOn("Actions on volume taken, held by legacy/owner, not by this claim")
		for _, key := range []string{"d", "m", "v", "n", "u"} {
			r.press(key)
			r.wantOn("Actions on volume taken", "not now: held by legacy/owner, not by this claim")
		}
		r.press("p")
		r.wantOff("Actions on volume taken")
	}
	for _, way := range [][]string{{"p", "d"}, {"enter", "p", "d"}} {
		r := newRig(t, estate())
		r.press("2")
		r.filter("misbound")
		r.press(way...)
		r.wantOn("Reclaim policy of volume taken, held by legacy/owner, not by this claim")
	}
	// Its own volume is called by its name, and all of it is offered.
	r := newRig(t, estate())
	r.press("2")
	r.filter("legacy/owner")
	r.press("a")
	r.wantOn("Actions on taken (Bound)")
	r.press("m")
	r.wantOff("Actions on taken")
}

// TestHolderOfAVolume: who holds a volume that a claim names.
func TestHolderOfAVolume(t *testing.T) {
	claim := func(r *rig) *kube.Claim { return r.app.claimNamed("web", "b") }
	for want, v := range map[string]*corev1.PersistentVolume{
		"\x00open":                  pv("v", corev1.VolumeAvailable),
		"held by web/a":             pv("v", corev1.VolumeBound, claimedBy("web", "a", "x")),
		"reserved for web/a":        pv("v", corev1.VolumeAvailable, claimedBy("web", "a", "")),
		"last held by web/a":        pv("v", corev1.VolumeReleased, claimedBy("web", "a", "x")),
		"held by an earlier web/b":  pv("v", corev1.VolumeBound, claimedBy("web", "b", "x")),
		"\x00its own":               pv("v", corev1.VolumeBound, claimedBy("web", "b", "pvc-web-b")),
		"\x00reserved for it":       pv("v", corev1.VolumeAvailable, claimedBy("web", "b", "")),
		"\x00of the one before it":  pv("v", corev1.VolumeReleased, claimedBy("web", "b", "x")),
		"held by web/a\x00 deleted": pv("v", corev1.VolumeBound, claimedBy("web", "a", "x"), deleting),
	} {
		r := newRig(t, kube.Objects{Volumes: []*corev1.PersistentVolume{v}, Claims: []*corev1.PersistentVolumeClaim{pvc("web", "b", corev1.ClaimPending, "v")}})
		want, _, _ = strings.Cut(want, "\x00")
		if got := otherHolder(claim(r), r.app.volumeNamed("v")); got != want {
			t.Errorf("%s: %q, want %q", v.Spec.ClaimRef, got, want)
		}
	}
}

// TestMenusStartHarmless: whatever can be done with a volume, enter alone does
// not begin what could end in lost data.
func TestMenusStartHarmless(t *testing.T) {
	objects := estate()
	objects.Volumes = append(objects.Volumes, shop().Volumes...)
	objects.Volumes = append(objects.Volumes, pv("kept", corev1.VolumeBound, claimedBy("web", "kept", "pvc-web-kept")))
	objects.Claims = append(objects.Claims, pvc("web", "kept", corev1.ClaimBound, "kept"))
	for _, v := range objects.Volumes {
		r := newRig(t, objects)
		r.filter(v.Name)
		for _, key := range []string{"a", "p"} {
			r.press(key)
			bar := ""
			for line := range strings.Lines(r.screen()) {
				if _, rest, found := strings.Cut(line, "│ ▌ "); found {
					bar = strings.TrimSpace(rest)
				}
			}
			letter, _, _ := strings.Cut(bar, " ")
			if bar == "" || strings.ContainsAny(letter, "dumvn") {
				t.Errorf("%s, %s starts on %q\n%s", v.Name, key, bar, r.screen())
			}
			r.press("esc")
		}
	}
	r := newRig(t, objects)
	r.filter("kept")
	r.press("a")
	r.wantOn("▌ e Details")
}

// TestReasonsAreRead: the title has the volume's name, so that the line behind
// an entry has room for the reason; what is cut of it stands below in full.
func TestReasonsAreRead(t *testing.T) {
	objects := estate()
	objects.Volumes = append(objects.Volumes, shop().Volumes...)
	objects.Claims = append(objects.Claims, shop().Claims...)
	for _, v := range objects.Volumes {
		for _, w := range []int{80, 120} {
			r := newRig(t, objects)
			r.resize(w, 40)
			r.filter(v.Name)
			r.press("a")
			volume := r.app.volumeNamed(v.Name)
			for _, o := range r.app.offers(volume) {
				if o.Disabled == "" {
					continue
				}
				why := withoutName(o.Disabled, v.Name)
				if strings.Contains(why, "olume "+v.Name) {
					t.Errorf("the reason begins with what the title says: %s", why)
				}
				r.press(offerKey(o))
				box := strings.Join(strings.Fields(strings.NewReplacer("│", " ", "┃", " ").Replace(r.screen())), " ")
				if !strings.Contains(box, why) {
					t.Errorf("%d columns, %s of %s: the reason %q is not there in full\n%s", w, offerKey(o), v.Name, why, r.screen())
				}
			}
		}
	}
}

func TestWithoutName(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Volume pv-1 is Bound to claim a/b", "it is Bound to claim a/b"},
		{"The reclaim policy of pv-1 is Retain already", "the reclaim policy is Retain already"},
		{"An operation on volume pv-1 is unfinished", "an operation on it is unfinished"},
		{"Claim a/b uses volume pv-10, not volume pv-1. Wait", "claim a/b uses volume pv-10, not it. Wait"},
		{"Volume pv-1's policy is Delete", "its policy is Delete"},
		{"StatefulSet a/b uses volume pv-1.", "StatefulSet a/b uses it."},
		{"Volume pv-1.x is not it", "Volume pv-1.x is not it"},
		{"Volume pv-1 and volume pv-1-x, of pv-1.", "it and volume pv-1-x,."},
		{"", ""},
	} {
		if got := withoutName(c.text, "pv-1"); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// TestCarefulOffers: what an offer can end in.
func TestCarefulOffers(t *testing.T) {
	for _, c := range []struct {
		req  actions.Request
		want bool
	}{
		{actions.Request{Verb: actions.SetPolicy, Policy: corev1.PersistentVolumeReclaimDelete}, true},
		{actions.Request{Verb: actions.SetPolicy, Policy: corev1.PersistentVolumeReclaimRetain}, false},
		{actions.Request{Verb: actions.Unreserve}, true},
		{actions.Request{Verb: actions.Reserve}, false},
		{actions.Request{Verb: actions.Repair}, false},
	} {
		if got := isCareful(actions.Offer{Request: c.req}); got != c.want {
			t.Errorf("%v: %v", c.req, got)
		}
	}
}
