package views

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/ui"
)

// jump shows another object, and remembers where from.
func (s *session) jump(from place, tab int, id string) tea.Cmd {
	if !s.reveal(tab, id) {
		s.nav.Notify(ui.Notice, "It is gone.")
		return nil
	}
	s.trail = append(s.trail, from)
	s.show(tab)
	return nil
}

func (s *session) jumpBack() tea.Cmd {
	last := len(s.trail) - 1
	if last < 0 {
		return nil
	}
	to := s.trail[last]
	s.trail = s.trail[:last]
	s.show(to.tab)
	if !s.reveal(to.tab, to.id) {
		s.nav.Notify(ui.Notice, "The object you came from is gone.")
	}
	return nil
}

func (s *session) show(tab int) {
	s.nav.Show(tab)
}

func (s *session) reveal(tab int, id string) bool {
	switch tab {
	case volumesTab:
		return s.volumes.reveal(id)
	case claimsTab:
		return s.claims.reveal(id)
	case risksTab:
		return s.dangers.reveal(id)
	default:
		return s.classes.reveal(id)
	}
}

// volumeKeys are the keys of the volumes table.
func volumeKeys(p *listPage[*kube.Volume]) []ui.Binding {
	here := func(v *kube.Volume) place { return place{volumesTab, uidID(v.Object.UID)} }
	return []ui.Binding{
		p.forSelected("a", "actions", "guided actions on this volume", "Actions", true, p.openVolumeActions),
		p.forSelected("p", "policy", "set the reclaim policy", "Actions", true, p.openPolicy),
		p.forSelected("enter", "details", "all about it: story, users, events, YAML", "Table", true, func(v *kube.Volume) tea.Cmd { return p.openVolume(v, false) }),
		p.forSelected("y", "YAML", "the object as YAML", "Table", false, func(v *kube.Volume) tea.Cmd { return p.openVolume(v, true) }),
		{
			Keys: []string{"c"}, Title: "claim", Help: "jump to its claim", Group: "Jump",
			Disabled: p.unless(p.noClaim),
			Do:       p.with(func(v *kube.Volume) tea.Cmd { return p.jumpToClaim(v, here(v)) }),
		},
		{
			Keys: []string{"C"}, Title: "class", Help: "jump to its class", Group: "Jump",
			Disabled: p.unless(func(v *kube.Volume) string { return p.noClass(v.Class) }),
			Do:       p.with(func(v *kube.Volume) tea.Cmd { return p.jump(here(v), classesTab, p.classID(v.Class)) }),
		},
	}
}

// claimKeys are the keys of the claims table.
func claimKeys(p *listPage[*kube.Claim]) []ui.Binding {
	here := func(c *kube.Claim) place { return place{claimsTab, uidID(c.Object.UID)} }
	noVolume := func(c *kube.Claim) string {
		switch name := c.Object.Spec.VolumeName; {
		case name == "":
			return "it names no volume"
		case p.volumeNamed(name) == nil && c.Tie == kube.TieUnknown:
			return "volume " + name + " can't be seen: " + p.unseen(kube.PersistentVolumes)
		case p.volumeNamed(name) == nil:
			return "volume " + name + " does not exist"
		}
		return ""
	}
	volume := func(c *kube.Claim) *kube.Volume { return p.volumeNamed(c.Object.Spec.VolumeName) }
	return []ui.Binding{
		{
			Keys: []string{"a"}, Title: "actions", Help: "guided actions on its volume", Group: "Actions", Hint: true,
			Disabled: p.unless(noVolume),
			Do:       p.with(func(c *kube.Claim) tea.Cmd { return p.openClaimActions(c, p.protectClaims()) }),
		},
		{
			Keys: []string{"p"}, Title: "policy", Help: "set its volume's reclaim policy", Group: "Actions",
			Disabled: p.unless(noVolume),
			Do:       p.with(p.openClaimPolicy),
		},
		p.forSelected("enter", "details", "all about it: story, users, events, YAML", "Table", true, func(c *kube.Claim) tea.Cmd { return p.openClaim(c, false) }),
		p.forSelected("y", "YAML", "the object as YAML", "Table", false, func(c *kube.Claim) tea.Cmd { return p.openClaim(c, true) }),
		{
			Keys: []string{"v"}, Title: "volume", Help: "jump to its volume", Group: "Jump", Hint: true,
			Disabled: p.unless(noVolume),
			Do:       p.with(func(c *kube.Claim) tea.Cmd { return p.jump(here(c), volumesTab, uidID(volume(c).Object.UID)) }),
		},
		{
			Keys: []string{"C"}, Title: "class", Help: "jump to its class", Group: "Jump",
			Disabled: p.unless(func(c *kube.Claim) string { return p.noClass(c.Class.Name) }),
			Do:       p.with(func(c *kube.Claim) tea.Cmd { return p.jump(here(c), classesTab, p.classID(c.Class.Name)) }),
		},
	}
}

// classKeys are the keys of the classes table: from a class one goes to its
// volumes or claims as a filter.
func classKeys(p *listPage[*kube.Class]) []ui.Binding {
	filtered := func(tab int, set func(string)) func(*kube.Class) tea.Cmd {
		return func(c *kube.Class) tea.Cmd {
			set(`class:"` + c.Object.Name + `"`)
			p.trail = append(p.trail, place{classesTab, uidID(c.Object.UID)})
			p.show(tab)
			return nil
		}
	}
	return []ui.Binding{
		p.forSelected("enter", "details", "all about it: story, events, YAML", "Table", true, func(c *kube.Class) tea.Cmd { return p.openClass(c, false) }),
		p.forSelected("y", "YAML", "the object as YAML", "Table", false, func(c *kube.Class) tea.Cmd { return p.openClass(c, true) }),
		p.forSelected("v", "volumes", "show its volumes", "Jump", true, filtered(volumesTab, p.volumes.filterBy)),
		p.forSelected("c", "claims", "show its claims", "Jump", true, filtered(claimsTab, p.claims.filterBy)),
	}
}

// filterBy sets a filter from outside.
func (p *listPage[T]) filterBy(text string) {
	p.typing = false
	p.input.Blur()
	p.input.SetValue(text)
	p.setQuery(text)
}

func (s *session) noClass(name string) string {
	switch {
	case name == "":
		return "it has no class"
	case s.snap.Class(name) != nil:
		return ""
	case s.snap.Known(kube.StorageClasses, ""):
		return "class " + name + " does not exist"
	default:
		return "class " + name + " can't be seen: " + s.unseen(kube.StorageClasses)
	}
}

// claimFor is the claim of the name that a volume's claimRef has.
func (s *session) claimFor(v *kube.Volume) *kube.Claim {
	if ref := v.Object.Spec.ClaimRef; ref != nil {
		return s.claimNamed(ref.Namespace, ref.Name)
	}
	return nil
}

func (s *session) noClaim(v *kube.Volume) string {
	switch name := claimOf(v.Object); {
	case name == "":
		return "it names no claim"
	case s.claimFor(v) != nil:
		return ""
	case v.Tie == kube.TieUnknown:
		return "claim " + name + " can't be seen: " + s.unseen(kube.PersistentVolumeClaims)
	default:
		return "claim " + name + " does not exist"
	}
}

func (s *session) jumpToClaim(v *kube.Volume, from place) tea.Cmd {
	if c := s.claimFor(v); c != nil {
		return s.jump(from, claimsTab, uidID(c.Object.UID))
	}
	return nil
}

// unseen says why objects of a kind can't all be seen.
func (s *session) unseen(r kube.Resource) string {
	switch st := s.readState(r); {
	case st.Phase == kube.Forbidden && st.Missing != "":
		return "you may not " + st.Missing
	case st.Phase == kube.Loading:
		return "they are still being read"
	case st.Namespace != "":
		return "only namespace " + st.Namespace + " is read"
	default:
		return "they can't be read"
	}
}

func (s *session) classID(name string) string {
	if c := s.snap.Class(name); c != nil {
		return uidID(c.Object.UID)
	}
	return ""
}

// forSelected binds a key to something done with the selected record. A hint
// stands on the key line, too.
func (p *listPage[T]) forSelected(key, title, help, group string, hint bool, do func(T) tea.Cmd) ui.Binding {
	return ui.Binding{
		Keys: []string{key}, Title: title, Help: help, Group: group, Hint: hint,
		Disabled: p.needSelection,
		Do:       p.with(do),
	}
}

// unless asks why not of the selected record, if there is one.
func (p *listPage[T]) unless(why func(T) string) func() string {
	return func() string {
		if r, ok := p.selected(); ok {
			return why(r)
		}
		return "nothing is selected"
	}
}

// with runs something with the selected record.
func (p *listPage[T]) with(do func(T) tea.Cmd) func() tea.Cmd {
	return func() tea.Cmd {
		if r, ok := p.selected(); ok {
			return do(r)
		}
		return nil
	}
}

// openNamespaces lets the user choose a namespace. For users who may not read
// all of them this chooses the one that is read.
func (s *session) openNamespaces() tea.Cmd {
	set := func(ns string) func() tea.Cmd {
		return func() tea.Cmd {
			s.setNamespace(ns)
			return nil
		}
	}
	var entries []ui.Entry
	if !s.narrowed() {
		note := ""
		if s.namespace == "" {
			note = "shown now"
		}
		entries = append(entries, ui.Entry{Title: "all namespaces", Note: note, Do: set("")})
	}
	for _, ns := range s.namespaces() {
		note := ""
		if ns == s.namespace {
			note = "shown now"
		}
		entries = append(entries, ui.Entry{Title: ns, Note: note, Do: set(ns)})
	}
	s.nav.Open(ui.NewPicker("Namespace", entries, ui.PickerOptions{
		Placeholder: "type a name",
		Free: func(text string) (ui.Entry, string) {
			text = strings.TrimSpace(text)
			if text == "" || slices.Contains(s.namespaces(), text) {
				return ui.Entry{}, ""
			}
			note := "a namespace without claims so far"
			if s.narrowed() {
				note = "read this namespace instead"
			}
			return ui.Entry{Title: text, Note: note, Do: set(text)}, ""
		},
	}))
	return nil
}

// narrowed says that one namespace is read only, for lack of rights.
func (s *session) narrowed() bool { return s.snap.Scope != "" }

// setNamespace shows one namespace, or all.
func (s *session) setNamespace(ns string) {
	s.namespace = ns
	if s.narrowed() && ns != "" {
		s.cluster.SetScope(ns)
	}
	s.refresh()
	s.volumes.pickFirst()
	s.claims.pickFirst()
	s.dangers.pickFirst()
}

// namespaces lists the namespaces that claims live in or volumes name.
func (s *session) namespaces() []string {
	seen := map[string]bool{}
	for _, c := range s.snap.Claims {
		seen[c.Object.Namespace] = true
	}
	for _, v := range s.snap.Volumes {
		if ns := volumeNamespace(v); ns != "" {
			seen[ns] = true
		}
	}
	out := make([]string, 0, len(seen))
	for ns := range seen {
		out = append(out, ns)
	}
	slices.Sort(out)
	return out
}
