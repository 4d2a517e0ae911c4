package views

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/ui"
)

// reportInput is what is known at the end of an operation.
type reportInput struct {
	journal   migration.Journal
	direction migration.Direction
	items     []migration.Item
	took      map[string]time.Duration
	// unexpected is what the server did otherwise than its dry runs said.
	unexpected []string
	// pods says for how long they were stopped; empty when they never were.
	pods  string
	who   string
	ended time.Time
}

// report is what is left of an operation for those who were not there: what
// was done, what is different now, and what to change where the manifests are
// kept. It is plain text, safe to print.
func report(in reportInput) string {
	var b strings.Builder
	say := func(text string) { b.WriteString(ui.Clean(text) + "\n") }
	j := in.journal
	title := operationTitle(j.Request) + ": " + operationSubject(j, fullName)
	if in.direction == migration.Back {
		title = "Undone: " + title
	}
	say(title)
	say("")
	say("Started   " + moment(j.Started) + by(j.By))
	say("Finished  " + moment(in.ended) + by(in.who))
	if in.pods != "" {
		say(strings.ToUpper(in.pods[:1]) + in.pods[1:])
	}
	say("")
	say("What was done")
	for i, item := range in.items {
		took := ""
		if d, ok := in.took[item.ID]; ok {
			took = clockText(d)
		}
		say(fmt.Sprintf("  %2d  %5s  %s", i+1, took, item.Title))
	}
	if len(in.unexpected) > 0 {
		say("")
		say("What the server did otherwise than its dry run said")
		for _, line := range in.unexpected {
			say("  " + line)
		}
	}
	say("")
	say("What is different now")
	for _, line := range differences(j, in.direction) {
		say("  " + line)
	}
	if in.direction == migration.Back {
		return b.String()
	}
	if git := manifests(j); len(git) > 0 {
		say("")
		say("What to change in the manifests (Git, Helm values), so that they do not bring the old back")
		for _, line := range git {
			say("  " + line)
		}
	}
	return b.String()
}

func moment(t time.Time) string {
	if t.IsZero() {
		return "(not known)"
	}
	return t.UTC().Format("2006-01-02 15:04:05 MST")
}

func by(who string) string {
	if who == "" {
		return ""
	}
	return "  by " + who
}

// differences says how the end differs from the beginning.
func differences(j migration.Journal, d migration.Direction) []string {
	var lines []string
	for _, v := range j.Volumes {
		switch {
		case d == migration.Back && v.From != nil:
			lines = append(lines, fmt.Sprintf("Claim %s/%s has volume %s again, as before; where it was re-created it has another uid", v.From.Namespace, v.From.Name, v.Ref.Name))
		case d == migration.Back:
			lines = append(lines, fmt.Sprintf("Volume %s is as it was, without a claim of its own", v.Ref.Name))
		case j.Request.Verb == migration.SinglePod:
			lines = append(lines, fmt.Sprintf("Claim %s/%s and volume %s are %s: one pod at a time can use them", v.To.Namespace, v.To.Name, v.Ref.Name, longModes(v.To.Spec.AccessModes)))
		default:
			lines = append(lines, fmt.Sprintf("Claim %s/%s has volume %s", v.To.Namespace, v.To.Name, v.Ref.Name))
		}
		if d != migration.Back && v.From != nil && (v.From.Namespace != v.To.Namespace || v.From.Name != v.To.Name) {
			lines = append(lines, fmt.Sprintf("Claim %s/%s is gone", v.From.Namespace, v.From.Name))
		}
	}
	for _, w := range j.Workloads {
		switch name := string(w.Ref.Kind) + " " + w.Ref.Namespace + "/" + w.Ref.Name; {
		case w.To != nil && d == migration.Back:
			lines = append(lines, name+" has its former volumeClaimTemplates")
		case w.To != nil:
			lines = append(lines, name+" was made anew: claims that it makes later are like the migrated ones")
		case w.Strategy != nil && d != migration.Back:
			lines = append(lines, name+" has the strategy Recreate")
		}
	}
	return lines
}

func longModes(list []corev1.PersistentVolumeAccessMode) string {
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = string(m)
	}
	return strings.Join(names, ", ")
}

// manifests are the lines that have to be in the manifests from now on.
func manifests(j migration.Journal) []string {
	var lines []string
	for _, w := range j.Workloads {
		if w.To != nil {
			lines = append(lines, setManifest(w)...)
		}
		if w.Strategy != nil {
			lines = append(lines, "", "# Deployment "+w.Ref.Namespace+"/"+w.Ref.Name, "spec:", "  strategy:", "    type: Recreate")
		}
	}
	for _, v := range j.Volumes {
		if madeBySet(j, v.To) {
			continue // Nobody keeps a manifest of what a template makes.
		}
		lines = append(lines, claimManifest(v)...)
		if j.Request.Verb == migration.MoveClaim && v.From != nil && v.From.Name != v.To.Name {
			lines = append(lines, "", "# Pods that used claim "+v.From.Namespace+"/"+v.From.Name,
				"persistentVolumeClaim:", "  claimName: "+scalar(v.To.Name))
		}
	}
	if len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	return lines
}

func madeBySet(j migration.Journal, claim *corev1.PersistentVolumeClaim) bool {
	for _, w := range j.Workloads {
		if w.Ref.Kind == migration.StatefulSetKind && w.Ref.Namespace == claim.Namespace {
			if _, ok := templateIn(w.Ref.Name, claim.Name); ok {
				return true
			}
		}
	}
	return false
}

// templateIn is the volumeClaimTemplate from which a StatefulSet would make a
// claim of a name: template-set-ordinal.
func templateIn(set, claim string) (template string, ok bool) {
	i := strings.LastIndex(claim, "-"+set+"-")
	if i <= 0 {
		return "", false
	}
	template = claim[:i]
	_, ok = migration.Ordinal(set, template, claim)
	return template, ok
}

func claimManifest(v migration.Volume) []string {
	lines := []string{
		"", "# PersistentVolumeClaim " + v.To.Namespace + "/" + v.To.Name, "metadata:",
		"  name: " + scalar(v.To.Name), "  namespace: " + scalar(v.To.Namespace), "spec:",
	}
	lines = append(lines, modeLines(v.To.Spec.AccessModes, "  ")...)
	if class := v.To.Spec.StorageClassName; class != nil {
		lines = append(lines, "  storageClassName: "+scalar(*class))
	}
	return append(lines, "  volumeName: "+scalar(v.To.Spec.VolumeName))
}

// setManifest are the templates of a StatefulSet.
func setManifest(w migration.Workload) []string {
	lines := make([]string, 0, 4+5*len(w.To.Spec.VolumeClaimTemplates))
	lines = append(lines, "", "# StatefulSet "+w.Ref.Namespace+"/"+w.Ref.Name, "spec:", "  volumeClaimTemplates:")
	for i := range w.To.Spec.VolumeClaimTemplates {
		t := &w.To.Spec.VolumeClaimTemplates[i]
		lines = append(lines, "  - metadata:", "      name: "+scalar(t.Name), "    spec:")
		lines = append(lines, modeLines(t.Spec.AccessModes, "      ")...)
	}
	return lines
}

func modeLines(list []corev1.PersistentVolumeAccessMode, indent string) []string {
	lines := make([]string, 0, 1+len(list))
	lines = append(lines, indent+"accessModes:")
	for _, m := range list {
		lines = append(lines, indent+"- "+scalar(string(m)))
	}
	return lines
}

// scalar writes a string for YAML: as it is where it is a plain name, else
// between quotes.
func scalar(text string) string {
	plain := text != "" && (text[0] >= 'a' && text[0] <= 'z' || text[0] >= 'A' && text[0] <= 'Z')
	for _, r := range text {
		ok := r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		plain = plain && ok
	}
	switch strings.ToLower(text) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		plain = false
	}
	if plain {
		return text
	}
	return fmt.Sprintf("%q", text)
}
