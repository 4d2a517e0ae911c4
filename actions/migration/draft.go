package migration

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
)

// Draft makes the Journal of a request, with the checks of everything that
// could be looked at before anything is written. When a check blocks, the
// Journal is not to be used, and may be empty.
//
// ID, Started and By of the Journal are the caller's to set.
func Draft(req Request, s Scene) (Journal, []actions.Check) {
	d := draftOf(req, s)
	return d.journal, d.checks
}

// OperatorsOf are the owners that a request has to name in its Operators
// before it can be carried out, as "Kind namespace/name", sorted; those that
// it names already are among them.
func OperatorsOf(req Request, s Scene) []string {
	operators := draftOf(req, s).operators
	slices.Sort(operators)
	return slices.Compact(operators)
}

// draft is a Journal in the making.
type draft struct {
	req Request
	s   Scene
	// pv is the volume that the user chose.
	pv *corev1.PersistentVolume
	// members are the volumes of the operation, with their claims.
	members []member
	// set is the StatefulSet that makes the claims, and template the name of
	// the volumeClaimTemplate; nil for a claim that stands alone.
	set      *appsv1.StatefulSet
	template string

	journal   Journal
	checks    []actions.Check
	operators []string
	// loads are what workloads has gathered.
	loads []workload
}

// member is one volume of the operation, with its claim.
type member struct {
	pv *corev1.PersistentVolume
	// key names the claim that there is, or was.
	key actions.ClaimKey
	// claim is nil when there is none.
	claim *corev1.PersistentVolumeClaim
}

func draftOf(req Request, s Scene) *draft {
	d := &draft{req: req, s: s, pv: s.Volumes[req.Volume.Name]}
	d.journal = Journal{Version: journalVersion, Request: req}
	if !d.present() {
		return d
	}
	switch req.Verb {
	case SinglePod:
		d.singlePod()
	case MoveClaim:
		d.move()
	case RecreateClaim:
		d.recreate()
	default:
		d.block("verb", "This version does not know the operation "+string(req.Verb), "")
	}
	d.rights()
	d.unreadResources()
	if len(d.journal.Volumes) > 0 {
		d.fits()
		d.limits()
		d.trials()
		d.size()
	}
	d.condense()
	return d
}

// singlePod plans that claims of ReadWriteOnce volumes are replaced by
// ReadWriteOncePod ones.
func (d *draft) singlePod() {
	d.serverVersion()
	first, ok := d.pair(d.pv)
	if !ok {
		d.notUnderWay(d.pv)
		return
	}
	d.set, d.template = setOf(d.s, first.key)
	d.members = d.chosen(first)
	for _, m := range d.members {
		d.volume(m.pv)
		d.boundBothWays(m)
		d.singleModes(m)
		d.driver(m.pv)
		d.claim(m)
		d.owners(m, m.key)
		d.class(m)
		d.completed(m.key)
	}
	d.namespace(first.key.Namespace)
	d.stop()
	d.attachments()
	d.sources("accessModes to [ReadWriteOncePod]")
	for _, m := range d.members {
		to := d.cleanedClaim(m, m.key)
		to.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{toMode}
		d.enlist(m, to)
	}
	d.notBusy()
	d.pass("never-open", "No other claim can take "+d.volumesText()+": never open, and kept for the claim to come from the moment that the old one is gone")
}

// enlist adds a volume to the Journal, with the originals of what changes.
func (d *draft) enlist(m member, to *corev1.PersistentVolumeClaim) {
	v := Volume{
		Ref:               actions.Ref{Kind: actions.VolumeKind, Name: m.pv.Name, UID: m.pv.UID},
		Policy:            m.pv.Spec.PersistentVolumeReclaimPolicy,
		Modes:             slices.Clone(m.pv.Spec.AccessModes),
		ClaimRef:          m.pv.Spec.ClaimRef.DeepCopy(),
		BoundByController: boundByController(m.pv),
		To:                to,
	}
	if m.claim != nil {
		v.From, v.FromUID = d.cleanedClaim(m, m.key), m.claim.UID
	}
	d.journal.Volumes = append(d.journal.Volumes, v)
}

func (d *draft) volumesText() string {
	if len(d.members) == 1 {
		return "volume " + d.members[0].pv.Name
	}
	return fmt.Sprintf("the %d volumes", len(d.members))
}

// condense says once what is the same for several volumes. What blocks is told
// of each.
func (d *draft) condense() {
	names := make([]string, 0, 2*len(d.members))
	for _, m := range d.members {
		names = append(names, m.pv.Name, m.key.String())
	}
	// The longest first: one name may be the beginning of another.
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(names))
	for _, name := range names {
		pairs = append(pairs, name, "*")
	}
	alike := strings.NewReplacer(pairs...)
	type kind struct{ id, text, remedy string }
	more := map[kind]int{}
	shape := func(c actions.Check) kind { return kind{c.ID, alike.Replace(c.Text), alike.Replace(c.Remedy)} }
	d.checks = slices.DeleteFunc(d.checks, func(c actions.Check) bool {
		more[shape(c)]++
		return c.Severity != actions.Block && more[shape(c)] > 1
	})
	for i, c := range d.checks {
		if n := more[shape(c)] - 1; n > 0 && c.Severity != actions.Block {
			d.checks[i].Text += fmt.Sprintf("; %d more likewise", n)
		}
	}
}

func (d *draft) pass(id, text string) {
	d.checks = append(d.checks, actions.Check{ID: id, Severity: actions.Pass, Text: text})
}

func (d *draft) warn(id, text, remedy string) {
	d.checks = append(d.checks, actions.Check{ID: id, Severity: actions.Warn, Text: text, Remedy: remedy})
}

func (d *draft) block(id, text, remedy string) {
	d.checks = append(d.checks, actions.Check{ID: id, Severity: actions.Block, Text: text, Remedy: remedy})
}

// unread says whether a resource could not be read, so that its absence proves
// nothing.
func (d *draft) unread(resource string) bool {
	_, unread := d.s.Unread[resource]
	return unread
}

// acknowledged says whether the user takes responsibility for an owner, and
// remembers that they were asked.
func (d *draft) acknowledged(operator string) bool {
	d.operators = append(d.operators, operator)
	return slices.Contains(d.req.Operators, operator)
}

func claimKey(c *corev1.PersistentVolumeClaim) actions.ClaimKey {
	return actions.ClaimKey{Namespace: c.Namespace, Name: c.Name}
}

func refKey(ref *corev1.ObjectReference) actions.ClaimKey {
	return actions.ClaimKey{Namespace: ref.Namespace, Name: ref.Name}
}

// refText names an object as a person would, and as Request.Operators does.
func refText(ref actions.Ref) string {
	return fmt.Sprintf("%s %s/%s", ref.Kind, ref.Namespace, ref.Name)
}

// list names things, the first few of them.
func list(names []string) string {
	const few = 5
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}

// value reads a field that may be unset.
func value[T any](p *T, unset T) T {
	if p == nil {
		return unset
	}
	return *p
}
