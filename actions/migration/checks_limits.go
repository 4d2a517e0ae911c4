package migration

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/claimref/claimref/actions"
)

// limits checks that the claims to come are allowed where they are to be. The
// old ones go first, and make room for them.
func (d *draft) limits() {
	for _, q := range d.s.Quotas {
		d.quota(q)
	}
	for _, v := range d.journal.Volumes {
		for _, l := range d.s.LimitRanges {
			if l.Namespace == v.To.Namespace {
				d.limitRange(v.To, l)
			}
		}
	}
}

// quota checks one quota for all that it counts of the claims
// (pkg/quota/v1/evaluator/core/persistent_volume_claims.go).
func (d *draft) quota(q *corev1.ResourceQuota) {
	hard := q.Status.Hard
	if hard == nil {
		hard = q.Spec.Hard
	}
	names := make([]string, 0, len(hard))
	for name := range hard {
		names = append(names, string(name))
	}
	slices.Sort(names)
	for _, text := range names {
		name := corev1.ResourceName(text)
		var gone, come, most resource.Quantity
		for _, v := range d.journal.Volumes {
			if v.From != nil && v.From.Namespace == q.Namespace {
				gone.Add(takes(name, v.From))
			}
			if v.To.Namespace == q.Namespace {
				one := takes(name, v.To)
				come.Add(one)
				if most.Cmp(one) < 0 {
					most = one
				}
			}
		}
		if come.IsZero() {
			continue
		}
		used, limit := q.Status.Used[name], hard[name]
		after, during := used.DeepCopy(), used.DeepCopy()
		after.Sub(gone)
		after.Add(come)
		during.Add(most)
		scoped := len(q.Spec.Scopes) > 0 || q.Spec.ScopeSelector != nil
		switch {
		case after.Cmp(limit) > 0 && scoped:
			d.warn("quota-scoped", fmt.Sprintf("If quota %s of namespace %s counts the claim, which depends on its scopes, there is no room: %s would be %s of %s",
				q.Name, q.Namespace, name, after.String(), limit.String()), "Ask for a larger quota, or make room first")
		case after.Cmp(limit) > 0:
			d.block("quota", fmt.Sprintf("Quota %s of namespace %s has no room for the new claim: %s would be %s of %s", q.Name, q.Namespace, name, after.String(), limit.String()),
				"Ask for a larger quota, or make room first")
		case during.Cmp(limit) > 0:
			d.warn("quota-tight", fmt.Sprintf("Quota %s of namespace %s has room for the new claim only once the old one is no longer counted (%s: %s of %s)",
				q.Name, q.Namespace, name, used.String(), limit.String()), "If the server refuses the new claim, wait a moment and go on; make sure that nobody takes the room meanwhile")
		}
	}
}

// takes is how much of a quota's resource a claim takes.
func takes(name corev1.ResourceName, c *corev1.PersistentVolumeClaim) resource.Quantity {
	const ofClass = ".storageclass.storage.k8s.io/"
	if class, rest, ok := strings.Cut(string(name), ofClass); ok {
		if class != value(c.Spec.StorageClassName, "") {
			return resource.Quantity{}
		}
		name = corev1.ResourceName(rest)
	}
	switch name {
	case corev1.ResourceRequestsStorage:
		return c.Spec.Resources.Requests[corev1.ResourceStorage]
	case corev1.ResourcePersistentVolumeClaims, "count/persistentvolumeclaims":
		return *resource.NewQuantity(1, resource.DecimalSI)
	default:
		return resource.Quantity{}
	}
}

// limitRange checks a claim's size by the rules of its namespace, which may
// have come after the old claim.
func (d *draft) limitRange(c *corev1.PersistentVolumeClaim, l *corev1.LimitRange) {
	asked := c.Spec.Resources.Requests[corev1.ResourceStorage]
	for _, limit := range l.Spec.Limits {
		if limit.Type != corev1.LimitTypePersistentVolumeClaim {
			continue
		}
		least := limit.Min[corev1.ResourceStorage]
		most, hasMost := limit.Max[corev1.ResourceStorage]
		switch {
		case asked.Cmp(least) < 0:
			d.block("limit-range", fmt.Sprintf("Claim %s asks for %s, and LimitRange %s demands at least %s", claimKey(c), asked.String(), l.Name, least.String()),
				"Have the LimitRange changed first")
		case hasMost && asked.Cmp(most) > 0:
			d.block("limit-range", fmt.Sprintf("Claim %s asks for %s, and LimitRange %s allows at most %s", claimKey(c), asked.String(), l.Name, most.String()),
				"Have the LimitRange changed first")
		}
	}
}

// trials says what the server made of the creations that were tried out.
func (d *draft) trials() {
	for _, field := range d.s.Unknown {
		d.block("unknown-field", "There is a field that this version does not know, and that would be lost as the object is made anew: "+field,
			"Use a version of this program that is as new as the server")
	}
	for _, t := range d.s.Trials {
		what := refText(t.Target)
		switch {
		case t.Untried:
			d.warn("trial-untried", fmt.Sprintf("Whether the server will accept %s could not be tried out: %s", what, t.Problem),
				"Go on only if whoever runs the webhook, or grants the right, can be reached: "+d.refused("the old one"))
		case t.Problem != "":
			d.block("trial-refused", fmt.Sprintf("The server would refuse %s: %s", what, t.Problem), "Mend the cause first; nothing has been written")
		default:
			if len(t.Changed) > 0 {
				d.warn("trial-changed", fmt.Sprintf("The server would not store %s as it is written; it would change %s", what, list(t.Changed)),
					"Make sure that the webhooks which do so leave the volume, the class and the access modes alone")
				continue
			}
			d.pass("trial", "The server would accept "+what+", tried out under a temporary name")
		}
	}
}

// rights blocks on each request that the server says is not allowed: half an
// operation is worse than none.
func (d *draft) rights() {
	for _, denied := range d.s.Denied {
		d.block("right", "The server says that you may not "+denied, "Ask for that right; the operation needs it")
	}
}

// unreadRule says what it means that a resource could not be read.
type unreadRule struct {
	resource, id string
	severity     actions.Severity
	// users: workloads of this kind may use a claim unseen.
	users        bool
	text, remedy string
}

func unreadRules() []unreadRule {
	const whoUses = " could not be read, so that one of them may use the claim unseen, and start a pod in the middle of it"
	const make = "Make sure that none of them uses the claim, or look as somebody who may read them"
	return []unreadRule{
		{"pods", "unread-pods", actions.Block, true, "Pods could not be read, so it is not known who uses the claim", "Try again as somebody who may read pods"},
		{"deployments", "unread-deployments", actions.Warn, true, "Deployments" + whoUses, make},
		{"statefulsets", "unread-statefulsets", actions.Warn, true, "StatefulSets" + whoUses, make},
		{"replicasets", "unread-replicasets", actions.Warn, true, "ReplicaSets" + whoUses, make},
		{"daemonsets", "unread-daemonsets", actions.Warn, true, "DaemonSets" + whoUses, make},
		{"jobs", "unread-jobs", actions.Warn, true, "Jobs" + whoUses, make},
		{"cronjobs", "unread-cronjobs", actions.Warn, true, "CronJobs" + whoUses, make},
		{
			"persistentvolumes", "unread-volumes", actions.Warn, false,
			"Not all volumes could be listed, so that another operation on the same workload would go unseen", "Make sure that nobody else is at work on it",
		},
		{
			"horizontalpodautoscalers", "unread-autoscalers", actions.Warn, false,
			"HorizontalPodAutoscalers could not be read, so that one of them may start pods in the middle of it", "Make sure that none of them scales the workload up from 0",
		},
		{
			"volumeattachments", "unread-attachments", actions.Warn, false,
			"VolumeAttachments could not be read, so whether the volume is still attached when its pods are gone is not known",
			"Give the node a minute to let go of the volume before you go on from there",
		},
		{
			"resourcequotas", "unread-quotas", actions.Warn, false,
			"Quotas could not be read, so whether there is room for the new claim is not known", "Make sure of it: the old claim" + goneByThen,
		},
		{
			"limitranges", "unread-limitranges", actions.Warn, false,
			"LimitRanges could not be read, so whether they allow the new claim is not known", "Make sure of it: the old claim" + goneByThen,
		},
		{
			"namespaces", "unread-namespaces", actions.Warn, false,
			"Namespaces could not be read, so whether one is being deleted is not known", "Make sure that the claim's namespace is there to stay",
		},
	}
}

// goneByThen is what a refusal means where an old claim is replaced.
const goneByThen = " is gone by the time that the server says no"

// refused says what it means when the server refuses a creation that could not
// be tried out.
func (d *draft) refused(old string) string {
	if slices.ContainsFunc(d.journal.Volumes, func(v Volume) bool { return v.From != nil }) || len(d.journal.Volumes) == 0 && d.req.Verb != RecreateClaim {
		return old + goneByThen
	}
	return "if the server says no, the volume is kept for the claim, and nothing has it"
}

// unreadResources says what could not be looked at.
func (d *draft) unreadResources() {
	for _, r := range unreadRules() {
		if why, unread := d.s.Unread[r.resource]; unread {
			d.checks = append(d.checks, actions.Check{ID: r.id, Severity: r.severity, Text: r.text + " (" + why + ")", Remedy: strings.Replace(r.remedy, "the old claim"+goneByThen, d.refused("the old claim"), 1)})
		}
	}
}

// namespace checks where a claim is, or is to be.
func (d *draft) namespace(name string) {
	ns, looked := d.s.Namespaces[name]
	switch {
	case !looked:
		// Told as a resource that could not be read.
	case ns == nil:
		d.block("namespace-missing", "Namespace "+name+" does not exist", "Make it first")
	case ns.DeletionTimestamp != nil:
		d.block("namespace-deleting", "Namespace "+name+" is being deleted: its claims go, and no new one can be made there",
			"Set Retain on the volume, and bind it to a claim elsewhere")
	}
}

// size checks that the Journal can be kept on the volume.
func (d *draft) size() {
	text, err := d.journal.Encode()
	if err != nil {
		d.block("journal", "The record of the operation can't be written: "+err.Error(), "")
		return
	}
	if len(text) <= MaxJournal {
		return
	}
	most, what := 0, ""
	note := func(part any, name string) {
		if size := encodedSize(part); size > most {
			most, what = size, name
		}
	}
	for _, v := range d.journal.Volumes {
		note(v, "what it says of claim "+claimKey(v.To).String())
	}
	for _, w := range d.journal.Workloads {
		note(w, refText(w.Ref))
	}
	note(d.req.Manifest, "the claim's manifest")
	d.block("journal-large",
		fmt.Sprintf("The record of the operation takes %d KiB, and the volume can hold %d KiB; the largest part is %s, with %d KiB", kib(len(text)), kib(MaxJournal), what, kib(most)),
		"Migrate fewer ordinals at a time, keep the templates as they are, or shorten the annotations of that object")
}

// kib is a size in KiB, rounded up.
func kib(size int) int { return (size + 1023) >> 10 }

func encodedSize(part any) int {
	text, err := json.Marshal(part)
	if err != nil {
		return 0
	}
	return len(text)
}
