package views

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/ui"
)

// operationEntries are the operations in the actions menu of a volume. Whether
// one is possible is checked fully on its first page; here stands only what is
// plain from the tables.
func (s *session) operationEntries(v *kube.Volume) []ui.Entry {
	ref := volumeRef(v)
	return []ui.Entry{
		{
			Key: "m", Title: "Migrate to ReadWriteOncePod…", Note: "one pod at a time may use it; the data stay",
			Disabled: s.cannotMigrate(v), Careful: true, Do: func() tea.Cmd { return s.chooseWay(v) },
		},
		{
			Key: "v", Title: "Move or rename the claim…", Note: "the data go to a claim of another name or namespace",
			Disabled: s.cannotMove(v), Careful: true, Do: func() tea.Cmd { return s.chooseTarget(v) },
		},
		{
			Key: "n", Title: "Re-create the claim…", Note: "make the claim that the volume lacks, and bind the two",
			Disabled: s.cannotRecreate(v), Careful: true, Do: func() tea.Cmd { return s.openChecks(migration.Request{Verb: migration.RecreateClaim, Volume: ref}) },
		},
	}
}

func volumeRef(v *kube.Volume) actions.Ref {
	return actions.Ref{Kind: actions.VolumeKind, Name: v.Object.Name, UID: v.Object.UID}
}

// cannotOperate says why no operation can be begun on a volume.
func (s *session) cannotOperate(v *kube.Volume) string {
	switch op := s.operationOf(v.Object.Name); {
	case s.opts.ReadOnly:
		return "started with --read-only: nothing is written"
	case op != nil:
		return "an operation is unfinished on it; R opens that"
	case v.State.Phase == kube.Terminating:
		return "the volume is being deleted"
	}
	return ""
}

func (s *session) cannotMigrate(v *kube.Volume) string {
	if why := s.cannotOperate(v); why != "" {
		return why
	}
	list := v.Object.Spec.AccessModes
	switch {
	case slices.Equal(list, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}) && !s.halfMigrated(v):
		return "it is ReadWriteOncePod already"
	case slices.Contains(list, corev1.ReadWriteMany), slices.Contains(list, corev1.ReadOnlyMany):
		return "its modes are " + modes(list) + "; only from ReadWriteOnce there is a way"
	case v.Object.Spec.CSI == nil:
		return "it is no CSI volume, and only those can be ReadWriteOncePod"
	}
	return s.lacksClaim(v)
}

// halfMigrated says that the volume is ReadWriteOncePod, and its claim is not.
func (s *session) halfMigrated(v *kube.Volume) bool {
	c := s.claimFor(v)
	return c != nil && !slices.Equal(c.Object.Spec.AccessModes, v.Object.Spec.AccessModes)
}

// lacksClaim says why a volume has no claim that could be replaced.
func (s *session) lacksClaim(v *kube.Volume) string {
	switch {
	case claimOf(v.Object) == "":
		return "the volume has no claim"
	case v.State.Phase == kube.Released:
		return "its claim is gone; re-create that first"
	case v.State.Phase != kube.Bound:
		return "it is not Bound to a claim"
	}
	return ""
}

func (s *session) cannotMove(v *kube.Volume) string {
	if why := s.cannotOperate(v); why != "" {
		return why
	}
	return s.lacksClaim(v)
}

func (s *session) cannotRecreate(v *kube.Volume) string {
	if why := s.cannotOperate(v); why != "" {
		return why
	}
	switch {
	case claimOf(v.Object) == "":
		return "it names no claim; reserve it for one first"
	case v.State.Phase == kube.Bound:
		return "its claim is there"
	case s.claimFor(v) != nil:
		return "a claim of that name is there"
	}
	return ""
}

// chooseWay asks which of the two ways to ReadWriteOncePod is meant, and says
// what each leaves behind.
func (s *session) chooseWay(v *kube.Volume) tea.Cmd {
	ref, full := volumeRef(v), "the claim is"
	if setOf(v) != "" {
		full = "claim and StatefulSet template are"
	}
	s.nav.Open(ui.NewMenu("Migrate "+claimOf(v.Object)+" to ReadWriteOncePod", []ui.Entry{
		{
			Key: "f", Title: "Full", Note: full + " made anew, too, and the pods stop meanwhile; scheduler and kubelet enforce it",
			Do: func() tea.Cmd { return s.openChecks(migration.Request{Verb: migration.SinglePod, Volume: ref}) },
		},
		{
			Key: "l", Title: "Light", Note: "only the volume's modes change, and no pod stops; the claim says RWO, its status RWOP: the kubelet enforces it, the scheduler does not",
			Do: func() tea.Cmd { return s.openStep(actions.Request{Verb: actions.SinglePodLight, Volume: ref}) },
		},
	}))
	return nil
}

// chooseTarget asks for the claim that the volume goes to.
func (s *session) chooseTarget(v *kube.Volume) tea.Cmd {
	from := claimOf(v.Object)
	ns, name, _ := strings.Cut(from, "/")
	s.nav.Open(ui.NewPrompt(ui.PromptOptions{
		Title:       "Move claim " + from + " to",
		Text:        []ui.Span{{Text: "The claim is deleted, and one of the new name made for the same volume, with the same data. Pods that use the old claim have to be stopped first, and want the new name in their manifests before they can start again."}},
		Placeholder: "namespace/name", Initial: ns + "/" + name,
		Check: func(text string) string { _, why := s.target(text, from); return why },
		Do: func(text string) tea.Cmd {
			key, why := s.target(text, from)
			if why != "" {
				return nil
			}
			return s.openChecks(migration.Request{Verb: migration.MoveClaim, Volume: volumeRef(v), To: key})
		},
	}))
	return nil
}

// target reads the claim to move to, or says why it can't be that.
func (s *session) target(text, from string) (actions.ClaimKey, string) {
	ns, name, found := strings.Cut(strings.TrimSpace(text), "/")
	key := actions.ClaimKey{Namespace: ns, Name: name}
	switch {
	case !found || ns == "" || name == "":
		return key, "type namespace/name"
	case key.String() == from:
		return key, "that is the claim it has; change the name, or the namespace"
	case len(validation.NameIsDNSLabel(ns, false)) > 0:
		return key, ns + " can't be a namespace's name"
	case len(validation.NameIsDNSSubdomain(name, false)) > 0:
		return key, name + " can't be a claim's name: small letters, digits, - and ."
	case s.claimNamed(ns, name) != nil:
		return key, "a claim of that name exists"
	}
	return key, ""
}
