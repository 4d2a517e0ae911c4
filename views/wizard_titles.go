package views

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/ui"
)

// operationTitle says in a few words what an operation does.
func operationTitle(req migration.Request) string {
	switch req.Verb {
	case migration.SinglePod:
		return "Migrate to ReadWriteOncePod"
	case migration.MoveClaim:
		return "Move the claim"
	case migration.RecreateClaim:
		return "Re-create the claim"
	}
	return "Operation " + string(req.Verb)
}

// shortName is operationTitle where there is no room for that.
func shortName(req migration.Request) string {
	switch req.Verb {
	case migration.SinglePod:
		return "Migrate"
	case migration.MoveClaim:
		return "Move"
	case migration.RecreateClaim:
		return "Re-create"
	}
	return string(req.Verb)
}

// claimsOf are the claims that an operation replaces, or makes where there was
// none.
func claimsOf(j migration.Journal) []actions.ClaimKey {
	var keys []actions.ClaimKey
	for _, v := range j.Volumes {
		claim := v.From
		if claim == nil {
			claim = v.To
		}
		if claim != nil {
			keys = append(keys, actions.ClaimKey{Namespace: claim.Namespace, Name: claim.Name})
		}
	}
	return keys
}

// operationSubject says what an operation is about, such as
// "shop/data-orders-0 on pvc-5e28b8…ba551", with the volume's name cut to a
// width; 0 leaves it out.
func operationSubject(j migration.Journal, width int) string {
	keys := claimsOf(j)
	if len(keys) == 0 {
		return j.Request.Volume.Name
	}
	text := keys[0].String()
	if len(keys) > 1 {
		return text + " and " + count(len(keys)-1, "other claim")
	}
	if to := j.Volumes[0].To; j.Request.Verb == migration.MoveClaim && to != nil {
		text += " to " + to.Namespace + "/" + to.Name
	}
	if width == 0 {
		return text
	}
	return text + " on " + ui.CutMiddle(j.Volumes[0].Ref.Name, width)
}

// subjectName is how wide the name of a volume may be at the head of a page,
// fullName where all of it is written.
const (
	subjectName = 24
	fullName    = 1 << 10
)

// confirmWord is what is typed to start or undo an operation: the claim's
// name.
func confirmWord(j migration.Journal) string {
	if keys := claimsOf(j); len(keys) > 0 {
		return keys[0].Name
	}
	return j.Request.Volume.Name
}

// shortTitle says in a few words what a step does, for the list of steps.
// Where there are several volumes, it says by the claim's name which is meant.
func shortTitle(step migration.Step, j migration.Journal) string {
	what, _, _ := strings.Cut(step.ID, "/")
	about := func(alone, amongOthers string) string {
		if len(j.Volumes) <= 1 {
			return alone
		}
		return amongOthers + " " + claimNameOf(step, j)
	}
	keeps := policyOf(step, j) == corev1.PersistentVolumeReclaimRetain
	object := kindShort(string(step.Target.Kind)) + "/" + step.Target.Name
	switch what {
	case "alone":
		return "no other operation"
	case "note":
		if keeps {
			return about("note the plan", "note for")
		}
		return about("Retain, note the plan", "Retain, note for")
	case "retention":
		return "retain the claims of " + object
	case "disowned":
		return "claims disowned by " + object
	case "strategy":
		return "Recreate for " + object
	case "strategy-back":
		return "strategy of " + object + " back"
	case "suspend":
		return "suspend " + object
	case "stop":
		return "stop " + object
	case "completed":
		return "delete completed " + object
	case "unused":
		return "wait until nothing uses it"
	case "delete":
		return "delete claim " + step.Target.Name
	case "released":
		return about("volume released", "released by")
	case "ready":
		return about("ready the volume", "ready for")
	case "reserved":
		return about("volume available", "available to")
	case "create":
		return "create claim " + step.Target.Name
	case "bound":
		return about("both bound", "bound to")
	case "remove":
		return "delete " + object + ", orphan"
	case "recreate":
		return "re-create " + object
	case "start":
		return "start " + object
	case "started":
		return object + " ready"
	case "retention-back":
		return "retention of " + object + " back"
	case "resume":
		return "resume " + object
	case "policy":
		return about("policy back to "+string(policyOf(step, j)), "policy back for")
	case "clean-up":
		return about("take the note off", "note off for")
	}
	return step.Title
}

// claimNameOf is the name of the claim of the volume that a step is about.
func claimNameOf(step migration.Step, j migration.Journal) string {
	_, name, _ := strings.Cut(step.ID, "/")
	for _, v := range j.Volumes {
		if v.Ref.Name == name && v.To != nil {
			return v.To.Name
		}
	}
	return name
}

func policyOf(step migration.Step, j migration.Journal) corev1.PersistentVolumeReclaimPolicy {
	for _, v := range j.Volumes {
		if v.Ref.Name == step.Target.Name {
			return v.Policy
		}
	}
	return ""
}

// destroys says that a step takes something away that can only be made again:
// its name has to be typed.
func destroys(step migration.Step) bool {
	return step.Act == migration.Delete && (step.Target.Kind == actions.ClaimKind || step.Target.Kind == migration.StatefulSetKind)
}

// stops says that a step stops pods.
func stops(step migration.Step) bool { return strings.HasPrefix(step.ID, "stop/") }

// stoppedText names the workloads whose pods are stopped meanwhile; empty for
// none.
func stoppedText(j migration.Journal) string {
	var names []string
	for _, w := range j.Workloads {
		if w.Replicas > 0 {
			names = append(names, kindShort(string(w.Ref.Kind))+"/"+w.Ref.Name+" ("+count(int(w.Replicas), "pod")+")")
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
