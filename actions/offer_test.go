package actions

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestOffers(t *testing.T) {
	// Each offer as "title", with (!) when it is disabled.
	for _, tt := range []struct {
		what string
		s    *setup
		want string
	}{
		{"Released", world(""), "Reserve for claim shop/data|Reserve for another claim…|Unreserve|Set reclaim policy Retain (!)|Set reclaim policy Delete… (!)"},
		{"Bound", world("", bound), "Reserve for claim shop/data (!)|Reserve for another claim… (!)|Unreserve (!)|Set reclaim policy Retain (!)|Set reclaim policy Delete…"},
		{"Bound under Delete", world("", bound, policy(remove)), "Reserve for claim shop/data (!)|Reserve for another claim… (!)|Unreserve (!)|Set reclaim policy Retain|Set reclaim policy Delete… (!)"},
		{"Reserved", world("", tied("data", ""), unmarked, phase(corev1.VolumeAvailable)), "Reserve for claim shop/data (!)|Reserve for another claim…|Unreserve|Set reclaim policy Retain (!)|Set reclaim policy Delete… (!)"},
		{"Available", world("", untied, unmarked, phase(corev1.VolumeAvailable)), "Reserve for another claim…|Unreserve (!)|Set reclaim policy Retain (!)|Set reclaim policy Delete… (!)"},
		{"Terminating", world("", terminating, policy(remove)), "Reserve for claim shop/data (!)|Reserve for another claim… (!)|Unreserve (!)|Set reclaim policy Retain|Set reclaim policy Delete… (!)"},
	} {
		var got []string
		for _, o := range Offers(tt.s.w.Volume, tt.s.w) {
			title := o.Title
			if o.Disabled != "" {
				title += " (!)"
			}
			got = append(got, title)
			if o.Request.Volume != (Ref{Kind: VolumeKind, Name: "disk", UID: "uid-disk"}) {
				t.Errorf("%s: %+v", tt.what, o)
			}
			// A complete request gets the plan's own answer.
			if want := Make(o.Request, tt.s.w).Blocked(); !o.NeedsClaim && o.Disabled != want {
				t.Errorf("%s: %s: %q, want %q", tt.what, title, o.Disabled, want)
			}
			if o.Disabled == "" && o.Note == "" {
				t.Errorf("%s: %s says nothing", tt.what, title)
			}
		}
		if strings.Join(got, "|") != tt.want {
			t.Errorf("%s: got\n%s, want\n%s", tt.what, strings.Join(got, "|"), tt.want)
		}
	}
	if Offers(nil, World{}) != nil {
		t.Error("no volume, no offers")
	}
}

func TestOfferNotes(t *testing.T) {
	note := func(title string, opts ...option) string {
		s := world("", opts...)
		for _, o := range Offers(s.w.Volume, s.w) {
			if strings.HasPrefix(o.Title, title) {
				return o.Note
			}
		}
		return "no such offer"
	}
	for _, tt := range []struct{ got, want string }{
		{note("Unreserve"), "no claim would take it at once"},
		{note("Unreserve", withClaim("b", "1"), withClaim("a", "2")), "2 claims would take it at once: shop/a, shop/b"},
		{note("Unreserve", withClaim("b", "1")), "1 claim would take it at once: shop/b"},
		{note("Unreserve", unread("persistentvolumeclaims")), "who would take it is not known: claims could not be read"},
		{note("Reserve for claim"), "its former claim, now gone: the volume waits for it"},
		{note("Reserve for claim", withClaim("data", "uid-new")), "its former claim was re-created: uid differs"},
		{note("Reserve for claim", unread("persistentvolumeclaims")), "its former claim; whether it exists is not known"},
		{note("Reserve for claim", tied("data", "")), "the claim it waits for"},
		{note("Reserve for claim", bound), "the claim that holds it"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}
