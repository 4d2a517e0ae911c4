package actions

import (
	"fmt"
	"slices"
)

// Users are the pods and workloads that use a volume through its claim. What
// is not known of them may exist all the same.
type Users struct {
	// Pods are those that name the claim, of every phase.
	Pods      []UserPod
	PodsKnown bool
	// Workloads are those that such a pod belongs to, or whose templates name
	// the claim, by kind and name.
	Workloads      []UserWorkload
	WorkloadsKnown bool
}

// UserPod is a pod that names a claim.
type UserPod struct {
	Name string
	// Ended: it has run to its end (Succeeded or Failed), and uses nothing any
	// more.
	Ended bool
}

// UserWorkload is what makes pods that use a claim.
type UserWorkload struct {
	Kind, Name string
	// Shared: all of its pods name this claim. Not so for the claims that a
	// StatefulSet makes, one for each pod.
	Shared bool
	// Replicas is how many pods it is to have; nil where it has no such
	// number, or where that is not known.
	Replicas *int32
	// Surges: a rollout starts a new pod before the old one has gone.
	Surges bool
}

func (u UserWorkload) String() string { return u.Kind + " " + u.Name }

// active are the names of the pods that have not run to their end.
func (u Users) active() []string {
	var names []string
	for _, p := range u.Pods {
		if !p.Ended {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return names
}

// onePod checks that no more than one pod uses the volume, and that nothing is
// about to start another.
func (d *draft) onePod() {
	const several = "Run it with one pod, or give each pod a claim of its own; ReadWriteOncePod is for one pod at a time"
	users := d.w.Users
	if !users.PodsKnown {
		d.block("pods-unknown", "Whether several pods use it is not known: the pods of the claim's namespace could not be read",
			"Try again as somebody who may list pods there")
		return
	}
	switch active := users.active(); len(active) {
	case 0:
		d.pass("pods", "No pod uses the volume now")
	case 1:
		d.pass("pods", "One pod uses the volume: "+active[0])
	default:
		d.block("pods-several", fmt.Sprintf("%d pods use the volume: %s", len(active), nameList(active)), several)
	}
	for _, w := range users.Workloads {
		d.oneReplica(w, several)
	}
	if !users.WorkloadsKnown {
		d.warn("workloads-unknown", "Workloads could not be read: whether one of them is about to start a second pod is not known",
			"Look as somebody who may list Deployments, StatefulSets, DaemonSets and Jobs in the claim's namespace")
	}
}

func (d *draft) oneReplica(w UserWorkload, several string) {
	if !w.Shared {
		return
	}
	switch {
	case w.Kind == "DaemonSet":
		d.block("workload-several", w.String()+" runs a pod with this claim on every node", several)
	case w.Replicas != nil && *w.Replicas > 1:
		d.block("workload-several", fmt.Sprintf("%s is to have %d pods, and all of them use this claim", w, *w.Replicas), several)
	case w.Surges:
		d.warn("surges",
			w.String()+" starts a new pod before the old one is gone: on the same node the new one waits for the volume, and the rollout with it",
			"Set its strategy to Recreate, or maxSurge to 0, before its next rollout")
	}
}
