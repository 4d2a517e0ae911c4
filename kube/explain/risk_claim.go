package explain

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
)

const retainVolume = "Set Retain on volume "

// claim finds the risks of a claim. It looks at its record, at the volume it
// is bound to, at the other claims that name that volume, and at the classes:
// see Tracker.
func (e *surroundings) claim(c *kube.Claim) *verdicts {
	f := &finding{object: claimRef(c.Object), namespace: c.Object.Namespace}
	e.claimData(f, c)
	e.claimModes(f, c)
	e.claimTie(f, c)
	if c.Class.Name != "" && e.classesKnown && e.snap.Class(c.Class.Name) == nil {
		if c.State.Stored == kube.Pending && c.Object.Spec.VolumeName == "" {
			f.add(RiskClassGone, High, "Its class "+clean(c.Class.Name)+" does not exist: nothing is provisioned for it", "Make the class, or make the claim anew with one that exists")
		} else {
			f.add(RiskClassGone, Low, "Its class "+clean(c.Class.Name)+" does not exist any more: the claim can't grow", "Make the class again if its claims are still in use")
		}
	}
	if since, unused := unusedSince(c); unused || e.ownersKnown && neverUsed(c) {
		text := "Bound, and no pod uses it"
		if len(c.Users) > 0 {
			text += "; " + c.Users[0].Kind + " " + c.Users[0].Name + " would"
		}
		f.add(RiskUnused, Info, text, "Find out whether its data are still wanted").Since = since
	}
	return f.sorted()
}

// unusedSince reads the condition that Kubernetes 1.37 sets on a bound claim
// (pvc_protection_controller.go). A pod that is seen is newer than it.
func unusedSince(c *kube.Claim) (time.Time, bool) {
	if c.State.Phase != kube.Bound {
		return time.Time{}, false
	}
	for _, u := range c.Users {
		if len(u.Pods) > 0 {
			return time.Time{}, false
		}
	}
	for i := range c.Object.Status.Conditions {
		cond := &c.Object.Status.Conditions[i]
		if cond.Type == corev1.PersistentVolumeClaimUnused && cond.Status == corev1.ConditionTrue {
			return cond.LastTransitionTime.Time, true
		}
	}
	return time.Time{}, false
}

// neverUsed goes by pods and templates, where the server does not say. That
// the workloads have been read is for the caller to know.
func neverUsed(c *kube.Claim) bool {
	return c.State.Phase == kube.Bound && c.UsersKnown && len(c.Users) == 0
}

// claimData is about what becomes of the data.
func (e *surroundings) claimData(f *finding, c *kube.Claim) {
	protected := e.options.protects(c.Object.Namespace, c.Object.Name)
	set := retention(c)
	terminating := c.State.Phase == kube.Terminating
	if c.Tie != kube.TieHeld || !protected && set == nil && !terminating {
		return
	}
	v := e.volumeNamed(c.Object.Spec.VolumeName)
	if v == nil || v.Object.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRetain {
		return
	}
	name, policy := v.Object.Name, v.Object.Spec.PersistentVolumeReclaimPolicy
	if terminating {
		r := f.add(RiskTerminatingDelete, Critical, fmt.Sprintf("It is being deleted, and its volume's policy is %s: the data go as soon as nothing holds the claim", policy),
			retainVolume+name+" now if the data are wanted")
		r.Cure, r.Since = actions.SetPolicy, c.Object.DeletionTimestamp.Time
	}
	if protected {
		f.add(RiskDeleteProtected, Critical, fmt.Sprintf("Its data are to outlive it, but its volume's policy is %s: they go when the claim is deleted", policy),
			retainVolume+name).Cure = actions.SetPolicy
	}
	if set != nil && policy == corev1.PersistentVolumeReclaimDelete {
		f.add(RiskRetentionDelete, High, retentionText(set), retainVolume+name+", or set the StatefulSet's persistentVolumeClaimRetentionPolicy to Retain").Cure = actions.SetPolicy
	}
}

const deletes = "Delete"

// retention is the StatefulSet that deletes a claim by itself; nil when none
// does. It does so only with claims made from its templates
// (stateful_set_utils.go, claimOwnerMatchesSetAndPod).
func retention(c *kube.Claim) *kube.Workload {
	for _, u := range c.Users {
		w := u.Workload
		if u.Kind == "StatefulSet" && w != nil && (w.WhenScaled == deletes || w.WhenDeleted == deletes) && !slices.Contains(w.Claims, c.Object.Name) {
			return w
		}
	}
	return nil
}

func retentionText(w *kube.Workload) string {
	when := "is scaled down or deleted"
	switch {
	case w.WhenScaled != deletes:
		when = "is deleted"
	case w.WhenDeleted != deletes:
		when = "is scaled down"
	}
	return fmt.Sprintf("When StatefulSet %s/%s %s, it deletes this claim, and under policy Delete the data go with it", w.Namespace, w.Name, when)
}

// effectiveModes are the volume's, as the claim's status repeats them.
func effectiveModes(c *kube.Claim) []corev1.PersistentVolumeAccessMode {
	if len(c.Object.Status.AccessModes) > 0 {
		return c.Object.Status.AccessModes
	}
	return c.Object.Spec.AccessModes
}

func (e *surroundings) claimModes(f *finding, c *kube.Claim) {
	spec, effective := c.Object.Spec.AccessModes, effectiveModes(c)
	single := hasMode(spec, corev1.ReadWriteOncePod) || hasMode(effective, corev1.ReadWriteOncePod)
	if c.ModesDiffer {
		severity := Low
		if single {
			severity = High
		}
		f.add(RiskModesDiffer, severity, modesDifferText(c), "Make the claim anew with the volume's modes")
	}
	if single {
		if n, unbounded := expected(c); n > 1 || unbounded {
			many := count(n, "pod")
			if unbounded {
				many = "a pod on every node"
			}
			f.add(RiskSharedOncePod, High, "ReadWriteOncePod lets one pod use it at a time, but "+many+" would: the others stay Pending",
				"Scale what uses it to one pod, or suspend all but one of its users")
		}
		for _, u := range c.Users {
			if u.Kind == "Deployment" && u.Workload != nil && u.Workload.Surges {
				f.add(RiskSurge, High, fmt.Sprintf("A rollout of Deployment %s/%s starts its new pod before the old one has gone, which ReadWriteOncePod forbids: the rollout hangs", u.Namespace, u.Name),
					"Set its strategy to Recreate, or maxSurge to 0")
				break
			}
		}
		return
	}
	if !hasMode(effective, corev1.ReadWriteOnce) || hasMode(effective, corev1.ReadWriteMany) || hasMode(effective, corev1.ReadOnlyMany) {
		return
	}
	sharedOnce(f, c)
}

// sharedOnce: ReadWriteOnce means one node, not one pod.
func sharedOnce(f *finding, c *kube.Claim) {
	live := livePods(c.Users)
	var nodes []string
	for _, p := range live {
		if p.Node != "" && !slices.Contains(nodes, p.Node) {
			nodes = append(nodes, p.Node)
		}
	}
	n, unbounded := expected(c)
	switch {
	case len(nodes) > 1:
		f.add(RiskSharedOnce, High, fmt.Sprintf("ReadWriteOnce allows one node, but its %d pods are on %d: some of them likely can't start", len(live), len(nodes)),
			"Scale what uses it to one pod, or keep its pods on one node")
	case len(live) > 1:
		f.add(RiskSharedOnce, Low, fmt.Sprintf("%d pods use it at the same time, which ReadWriteOnce allows on one node: nothing keeps them from writing over each other", len(live)),
			"Make sure that they are meant to share it")
	case n > 1 || unbounded:
		f.add(RiskSharedOnce, Low, "More than one pod is to use it, which ReadWriteOnce allows on one node only", "Make sure that they are meant to share it")
	}
}

// expected is how many pods use a claim, or are to: what is there, or what the
// templates will make. unbounded: a DaemonSet makes one on every node.
func expected(c *kube.Claim) (n int, unbounded bool) {
	for _, u := range c.Users {
		live := len(livePods([]kube.User{u}))
		switch {
		case u.Kind == "DaemonSet":
			unbounded = true
		case u.Replicas != nil && sharedTemplate(u, c.Object.Name):
			live = max(live, int(*u.Replicas))
		case len(u.Pods) == 0 && u.Replicas == nil:
			// A Job or CronJob that will start one.
			if u.Workload == nil || !u.Workload.Suspended && !u.Workload.Finished {
				live = 1
			}
		}
		n += live
	}
	return n, unbounded
}

// sharedTemplate says whether all pods of a workload use the same claim. Those
// of a StatefulSet have one each, unless its pod template names it.
func sharedTemplate(u kube.User, claim string) bool {
	if u.Kind != "StatefulSet" {
		return true
	}
	return u.Workload != nil && slices.Contains(u.Workload.Claims, claim)
}

// repairable says that the volume of a Lost claim can be given back to it: it
// is there to stay, no other claim has it, and no operation is on it.
func (e *surroundings) repairable(c *kube.Claim) bool {
	v := e.volumeNamed(c.Object.Spec.VolumeName)
	return v != nil && (c.Tie == kube.TieOpen || c.Tie == kube.TieOther) &&
		v.Object.DeletionTimestamp == nil && !heldByLiving(e.snap, v) && !actions.InOperation(v.Object)
}

// claimTie is about who else wants the claim's volume.
func (e *surroundings) claimTie(f *finding, c *kube.Claim) {
	name := c.Object.Spec.VolumeName
	if c.State.Stored == kube.Lost {
		r := f.add(RiskLost, High, lostText(c), "Open its details: they say whether it can be repaired")
		if e.repairable(c) {
			r.Cure = actions.Repair
		}
		return
	}
	if name == "" || c.Tie == kube.TieHeld {
		return
	}
	others := e.others(name, claimName(c.Object))
	if others == "" {
		return
	}
	if c.State.Stored == kube.Bound {
		f.add(RiskNamedTwice, Critical, fmt.Sprintf("It counts as bound to volume %s, which claim %s has, too: both may write to it, and one of them is about to be Lost", name, others),
			"Stop the pods of one of them at once, then decide which is to have the data")
		return
	}
	f.add(RiskNamedTwice, High, fmt.Sprintf("It names volume %s, and so does claim %s: only one of them gets it", name, others),
		"Make the claim anew with another volumeName, or with none")
}

// others names the claims besides one that name a volume, or have it.
func (e *surroundings) others(volume, claim string) string {
	all, known := e.rivals[volume]
	if !known {
		for _, c := range e.wanting[volume] {
			all = append(all, claimName(c.Object))
		}
		if v := e.volumeNamed(volume); v != nil && heldByLiving(e.snap, v) {
			all = append(all, claimOf(v.Object))
		}
		slices.Sort(all)
		all = slices.Compact(all)
		e.rivals[volume] = all
	}
	at, among := slices.BinarySearch(all, claim)
	if !among {
		return few(all)
	}
	if at > mostNamed {
		return few(all[:len(all)-1])
	}
	return few(slices.Concat(all[:at], all[at+1:]))
}

func lostText(c *kube.Claim) string {
	switch name := c.Object.Spec.VolumeName; {
	case name == "":
		return "Lost: it names no volume any more"
	case c.Tie == kube.TieAbsent:
		return "Lost: its volume " + name + " does not exist"
	case c.Tie == kube.TieUnknown:
		return "Lost: its volume " + name + " is gone or holds another claim (volumes can't be seen)"
	default:
		return "Lost: its volume " + name + " does not carry this claim's uid"
	}
}
