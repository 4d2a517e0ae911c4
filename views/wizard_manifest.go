package views

import (
	"context"
	"encoding/json"
	"time"

	tea "charm.land/bubbletea/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/ui"
)

// keptManifest is a claim that the backups know, and that the missing one may
// be made from.
type keptManifest struct {
	claim *corev1.PersistentVolumeClaim
	// origin says which backup has it, and what it was to that operation.
	origin string
}

// manifestsMsg brings the backups to the checks of a re-creation.
type manifestsMsg struct {
	page    *checksPage
	backups []kube.Backup
	err     error
}

// readManifests looks for backups of the claim that is missing.
func (p *checksPage) readManifests() tea.Cmd {
	if p.req.Verb != migration.RecreateClaim {
		return nil
	}
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(p.ctx, readTimeout)
		defer cancel()
		backups, err := p.cluster.Backups(ctx)
		return manifestsMsg{page: p, backups: backups, err: err}
	}
}

// tookManifests takes in what the backups know.
func (p *checksPage) tookManifests(msg manifestsMsg) {
	p.unreadBackups = errText(msg.err)
	v := p.volumeNamed(p.req.Volume.Name)
	if v == nil {
		return
	}
	p.manifests = manifestsFor(v.Object, msg.backups, p.now)
}

// manifestsFor are the claims in backups that a volume had, or that had the name
// of the one it lacks: those of its own first, each the newest first. A claim
// that was the same in several operations is among them once. A folder that
// can't be read is left out here; the list of backups has it.
func manifestsFor(pv *corev1.PersistentVolume, backups []kube.Backup, now time.Time) []keptManifest {
	var own, others []keptManifest
	known := map[string]bool{}
	add := func(b kube.Backup, v migration.Volume, claim *corev1.PersistentVolumeClaim, what string) {
		if claim == nil {
			return
		}
		mine := v.Ref.UID == pv.UID
		ref := pv.Spec.ClaimRef
		if !mine && (ref == nil || ref.Namespace != claim.Namespace || ref.Name != claim.Name) {
			return
		}
		text, err := json.Marshal(claim)
		if err != nil || known[string(text)] {
			return
		}
		known[string(text)] = true
		m := keptManifest{claim, what + ": " + operationTitle(b.Journal.Request) + ", begun " + lasted(now.Sub(b.Journal.Started)) + " ago; in " + b.Path}
		if mine {
			own = append(own, m)
		} else {
			m.origin = "of volume " + v.Ref.Name + ", " + m.origin
			others = append(others, m)
		}
	}
	for _, b := range backups {
		if b.Err != nil {
			continue
		}
		for _, v := range b.Journal.Volumes {
			add(b, v, v.To, "as made by")
			add(b, v, v.From, "as it was before")
		}
	}
	return append(own, others...)
}

// fitting is the choice to make a claim that fits the volume, rather than one of
// a backup.
const fitting = "one that fits the volume"

// manifestOption is the choice of what the claim is made from, where there is
// one.
func (p *checksPage) manifestOption() (option, bool) {
	if p.req.Verb != migration.RecreateClaim {
		return option{}, false
	}
	o := option{
		key: "b", title: "manifest", help: "make the claim from a backup of it, or one that fits the volume",
		label: "Manifest", value: fitting, note: "size, modes and class are those of the volume; labels and annotations are not known", do: p.chooseManifest,
	}
	if p.req.Manifest != nil {
		o.value, o.note = manifestText(p.req.Manifest), "from a backup"
		for _, m := range p.manifests {
			if m.claim == p.req.Manifest {
				o.note = m.origin
			}
		}
		return o, true
	}
	switch {
	case len(p.manifests) > 0:
		o.note = "the backups have " + count(len(p.manifests), "manifest") + " of it"
	case p.unreadBackups != "":
		o.note = "the backups can't be read: " + p.unreadBackups
	}
	return o, len(p.manifests) > 0 || p.unreadBackups != ""
}

// manifestText tells manifests apart.
func manifestText(c *corev1.PersistentVolumeClaim) string {
	size := c.Spec.Resources.Requests[corev1.ResourceStorage]
	text := c.Namespace + "/" + c.Name + ", " + modes(c.Spec.AccessModes) + ", " + bytes(size.Value())
	if len(c.Labels) > 0 {
		text += ", " + count(len(c.Labels), "label")
	}
	return text
}

func (p *checksPage) chooseManifest() tea.Cmd {
	use := func(claim *corev1.PersistentVolumeClaim) func() tea.Cmd {
		return func() tea.Cmd {
			p.req.Manifest = claim
			return p.replan()
		}
	}
	if len(p.manifests) == 0 {
		p.nav.Notify(ui.Warn, "The backups can't be read: "+sentence(p.unreadBackups))
		return nil
	}
	entries := make([]ui.Entry, 0, 1+len(p.manifests))
	entries = append(entries, ui.Entry{Title: fitting, Note: "size, modes and class are those of the volume", Do: use(nil)})
	for _, m := range p.manifests {
		entries = append(entries, ui.Entry{Title: manifestText(m.claim), Note: m.origin, Do: use(m.claim)})
	}
	p.nav.Open(ui.NewPicker("Make the claim from", entries, ui.PickerOptions{Placeholder: "choose what the claim is made from"}))
	return nil
}
