package views

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/ui"
)

// openActions shows what can be done with a volume, and why the rest can't.
// More are the entries of the page for all that it shows.
func (s *session) openActions(v *kube.Volume, more ...ui.Entry) tea.Cmd {
	if v == nil {
		return nil
	}
	s.nav.Open(ui.NewMenu("Actions on "+v.Object.Name+" ("+string(v.State.Phase)+")", append(s.volumeEntries(v), more...)))
	return nil
}

func (s *session) volumeEntries(v *kube.Volume) []ui.Entry {
	return slices.Concat(s.offerEntries(s.offers(v), v), s.operationEntries(v), s.placeEntries(v))
}

// openClaimActions shows what can be done with a claim's volume. If that is
// another claim's, the title says so, and what could harm that one is not done
// from here.
func (s *session) openClaimActions(c *kube.Claim, more ...ui.Entry) tea.Cmd {
	v := s.volumeOf(c)
	if v == nil {
		return nil
	}
	holder := otherHolder(c, v)
	if holder == "" {
		return s.openActions(v, more...)
	}
	s.nav.Open(ui.NewMenu(othersTitle("Actions on", v, holder), append(s.notFromHere(s.volumeEntries(v), holder), more...)))
	return nil
}

// volumeOf is the volume that a claim names; nil where it can't be seen.
func (s *session) volumeOf(c *kube.Claim) *kube.Volume {
	if c == nil || c.Object.Spec.VolumeName == "" {
		return nil
	}
	return s.volumeNamed(c.Object.Spec.VolumeName)
}

// otherHolder says by whom a volume is held, where that is not the claim which
// names it; empty where it is, and where nobody else holds it.
func otherHolder(c *kube.Claim, v *kube.Volume) string {
	ref := v.Object.Spec.ClaimRef
	if ref == nil {
		return ""
	}
	name := claimOf(v.Object)
	if ref.Namespace == c.Object.Namespace && ref.Name == c.Object.Name {
		if ref.UID == "" || ref.UID == c.Object.UID || v.State.Stored != kube.Bound {
			return ""
		}
		return "held by an earlier " + name
	}
	switch v.State.Stored {
	case kube.Bound:
		return "held by " + name
	case kube.Available:
		return "reserved for " + name
	default:
		return "last held by " + name
	}
}

// othersTitle keeps a long name short: who holds the volume must be read.
func othersTitle(what string, v *kube.Volume, holder string) string {
	const most = 24
	return what + " volume " + ui.CutMiddle(ui.Clean(v.Object.Name), most) + ", " + holder + ", not by this claim"
}

// notFromHere turns off what could take a volume, or its data, from the claim
// that holds it.
func (s *session) notFromHere(entries []ui.Entry, holder string) []ui.Entry {
	for i := range entries {
		if entries[i].Careful && !s.opts.ReadOnly {
			entries[i].Disabled = holder + ", not by this claim"
		}
	}
	return entries
}

// placeEntries are the places that a volume leads to, each with the reason why
// not.
func (s *session) placeEntries(v *kube.Volume) []ui.Entry {
	from := place{volumesTab, uidID(v.Object.UID)}
	return []ui.Entry{
		{Key: "e", Title: "Details", Note: "story, users, events", Do: func() tea.Cmd { return s.openVolume(v, false) }},
		{Key: "y", Title: "YAML", Note: "the object as it is stored", Do: func() tea.Cmd { return s.openVolume(v, true) }},
		{Key: "c", Title: "To its claim", Note: claimOf(v.Object), Disabled: s.noClaim(v), Do: func() tea.Cmd { return s.jumpToClaim(v, from) }},
		{Key: "C", Title: "To its class", Note: v.Class, Disabled: s.noClass(v.Class), Do: func() tea.Cmd { return s.jump(from, classesTab, s.classID(v.Class)) }},
		{Key: "Y", Title: "Copy its name", Do: func() tea.Cmd { return s.nav.Copy("1 name", v.Object.Name) }},
	}
}

// openPolicy shows the part of the actions that sets the policy.
func (s *session) openPolicy(v *kube.Volume) tea.Cmd {
	if v == nil {
		return nil
	}
	title := "Reclaim policy of " + v.Object.Name + " (now " + string(v.Object.Spec.PersistentVolumeReclaimPolicy) + ")"
	s.nav.Open(ui.NewMenu(title, s.policyEntries(v)))
	return nil
}

// openClaimPolicy does the same for the volume of a claim.
func (s *session) openClaimPolicy(c *kube.Claim) tea.Cmd {
	v := s.volumeOf(c)
	if v == nil {
		return nil
	}
	holder := otherHolder(c, v)
	if holder == "" {
		return s.openPolicy(v)
	}
	s.nav.Open(ui.NewMenu(othersTitle("Reclaim policy of", v, holder), s.notFromHere(s.policyEntries(v), holder)))
	return nil
}

func (s *session) policyEntries(v *kube.Volume) []ui.Entry {
	var offers []actions.Offer
	for _, o := range s.offers(v) {
		if o.Request.Verb == actions.SetPolicy {
			offers = append(offers, o)
		}
	}
	return s.offerEntries(offers, v)
}

// offers are the actions for a volume as it is seen now. What is seen may be
// old: each plan is made again from fresh objects before anything is written.
func (s *session) offers(v *kube.Volume) []actions.Offer {
	return actions.Offers(v.Object, s.snap.World(v.Object.Name))
}

func (s *session) offerEntries(offers []actions.Offer, v *kube.Volume) []ui.Entry {
	entries := make([]ui.Entry, 0, len(offers))
	for _, o := range offers {
		do := func() tea.Cmd { return s.openStep(o.Request) }
		if o.NeedsClaim {
			do = func() tea.Cmd { return s.chooseClaim(o.Request, v) }
		}
		disabled := withoutName(o.Disabled, v.Object.Name)
		if s.opts.ReadOnly {
			disabled = "started with --read-only: nothing is written"
		}
		entries = append(entries, ui.Entry{Key: offerKey(o), Title: o.Title, Note: o.Note, Disabled: disabled, Careful: isCareful(o), Do: do})
	}
	return entries
}

// isCareful says that an offer could end in lost data: by policy Delete, or in
// the hands of whoever takes an open volume.
func isCareful(o actions.Offer) bool {
	r := o.Request
	return r.Verb == actions.Unreserve || r.Verb == actions.SetPolicy && r.Policy != corev1.PersistentVolumeReclaimRetain
}

// withoutName takes a volume's name out of a reason, which stands in one line
// under a title that has the name: the reason itself must be what is read.
func withoutName(reason, name string) string {
	var b strings.Builder
	for name != "" {
		before, after, found := strings.Cut(reason, name)
		if !found {
			break
		}
		switch short, of := strings.CutSuffix(before, " of "); {
		case goesOn(after):
			b.WriteString(before + name)
		case of:
			b.WriteString(short)
		case strings.HasSuffix(before, "Volume "), strings.HasSuffix(before, "volume "):
			b.WriteString(before[:len(before)-len("volume ")] + "it")
			if rest, its := strings.CutPrefix(after, "'s"); its {
				b.WriteString("s")
				after = rest
			}
		default:
			b.WriteString(before + name)
		}
		reason = after
	}
	b.WriteString(reason)
	switch first, rest, _ := strings.Cut(b.String(), " "); first {
	case "The", "To", "An", "A", "Claim", "This":
		return strings.ToLower(first) + " " + rest
	}
	return b.String()
}

// goesOn says that a name was only the beginning of one.
func goesOn(after string) bool {
	after = strings.TrimPrefix(after, ".")
	return after != "" && (after[0] == '-' || '0' <= after[0] && after[0] <= '9' || 'a' <= after[0] && after[0] <= 'z')
}

// offerKey is the letter of an offer in the menu.
func offerKey(o actions.Offer) string {
	switch r := o.Request; {
	case r.Verb == actions.Reserve && o.NeedsClaim:
		return "o"
	case r.Verb == actions.Reserve:
		return "r"
	case r.Verb == actions.Unreserve:
		return "u"
	case r.Verb == actions.Repair:
		return "l"
	case r.Policy == corev1.PersistentVolumeReclaimRetain:
		return "p"
	default:
		return "d"
	}
}

// chooseClaim lets the user pick the claim to reserve for, or type one that
// may not exist yet.
func (s *session) chooseClaim(req actions.Request, v *kube.Volume) tea.Cmd {
	if s.readState(kube.PersistentVolumeClaims).Phase == kube.Loading {
		s.nav.Notify(ui.Notice, "The claims are still being read; try again in a moment.")
		return nil
	}
	choose := func(key actions.ClaimKey) func() tea.Cmd {
		req := req
		req.Claim = key
		return func() tea.Cmd { return s.openStep(req) }
	}
	var waiting, others []ui.Entry
	for _, c := range s.snap.Claims {
		key := actions.ClaimKey{Namespace: c.Object.Namespace, Name: c.Object.Name}
		e := ui.Entry{Title: key.String(), Note: claimNote(c), Do: choose(key)}
		// Claims that wait for a volume are who one reserves for; the others
		// are listed behind them, with the reason why not.
		e.Disabled = cannotTake(c, v)
		if c.State.Phase == kube.Pending && e.Disabled == "" {
			waiting = append(waiting, e)
			continue
		}
		others = append(others, e)
	}
	s.nav.Open(ui.NewPicker("Reserve "+v.Object.Name+" for claim", append(waiting, others...), ui.PickerOptions{
		Placeholder: "pick one, or type namespace/name",
		Free:        func(text string) (ui.Entry, string) { return s.typedClaim(text, v, choose) },
	}))
	return nil
}

// cannotTake says at a glance why a claim would not take a volume. The plan
// judges it fully, for the one claim that is chosen.
func cannotTake(c *kube.Claim, v *kube.Volume) string {
	switch name := c.Object.Spec.VolumeName; {
	case c.State.Phase == kube.Terminating:
		return "it is being deleted"
	case c.State.Phase == kube.Lost:
		return "it is Lost, and takes no other volume"
	case name == "" || name == v.Object.Name:
		return ""
	case c.State.Phase == kube.Bound:
		return "it is bound to volume " + name
	default:
		return "it asks for volume " + name
	}
}

// typedClaim offers a claim that was typed. Without a namespace the one that
// is shown is meant, or that of the volume's former claim.
func (s *session) typedClaim(text string, v *kube.Volume, choose func(actions.ClaimKey) func() tea.Cmd) (ui.Entry, string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return ui.Entry{}, ""
	}
	ns, name, found := strings.Cut(text, "/")
	if !found {
		ns, name = s.namespace, text
		if ns == "" {
			ns = volumeNamespace(v)
		}
	}
	if ns == "" || name == "" {
		return ui.Entry{}, "type namespace/name"
	}
	if s.claimNamed(ns, name) != nil {
		return ui.Entry{}, ""
	}
	key := actions.ClaimKey{Namespace: ns, Name: name}
	note := "does not exist yet"
	if !s.snap.Known(kube.PersistentVolumeClaims, ns) {
		note = "may or may not exist: claims there can't be seen"
	}
	return ui.Entry{Title: key.String(), Note: note, Do: choose(key)}, ""
}

func claimNote(c *kube.Claim) string {
	note := string(c.State.Phase)
	if name := c.Object.Spec.VolumeName; name != "" {
		note += " on " + name
	}
	return note + ", asks for " + storage(c.Object.Spec.Resources.Requests) + " " + modes(c.Object.Spec.AccessModes)
}
