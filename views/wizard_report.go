package views

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/ui"
)

// reportInput is what is known at the end of an operation.
type reportInput struct {
	journal   migration.Journal
	direction migration.Direction
	items     []migration.Item
	took      map[string]time.Duration
	// sent are the steps whose requests this program has sent; whole says that
	// it has been at it since the beginning, so that what it did not send nobody
	// had to.
	sent  map[string]bool
	whole bool
	// scene is how things are in the end.
	scene migration.Scene
	// unexpected is what the server did otherwise than its dry runs said.
	unexpected []string
	// pods says for how long they were stopped; empty when they never were.
	pods    string
	who     string
	started time.Time
	ended   time.Time
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
		title = undoneMark + title
	}
	say(title)
	say("")
	say("Started   " + moment(in.started) + by(j.By))
	say(finishedMark + moment(in.ended) + by(in.who))
	if in.pods != "" {
		say(strings.ToUpper(in.pods[:1]) + in.pods[1:])
	}
	say("")
	in.sayDone(say)
	if len(in.unexpected) > 0 {
		say("")
		say("What the server did otherwise than its dry run said")
		for _, line := range in.unexpected {
			say("  " + line)
		}
	}
	say("")
	say("What is different now")
	for _, line := range differences(j, in.direction, in.scene) {
		say("  " + line)
	}
	if in.direction == migration.Back {
		return b.String()
	}
	if git := manifests(j); len(git) > 0 {
		say("")
		why := "so that they say what is there"
		if replaces(j) {
			why = "so that they do not bring the old back"
		}
		say("What to change in the manifests (Git, Helm values), " + why)
		for _, line := range git {
			say("  " + line)
		}
	}
	return b.String()
}

// sayDone lists what was done, and apart from that the steps that this program
// has not taken.
func (in reportInput) sayDone(say func(string)) {
	var rest []string
	head := "What was done"
	if in.direction == migration.Back {
		head = "What was done to undo it"
	}
	say(head)
	for i, item := range in.items {
		took, known := "", false
		var d time.Duration
		if d, known = in.took[item.ID]; known {
			took = clockText(d)
		}
		switch {
		case known, in.sent[item.ID], item.Act == migration.Await && in.awaited(item):
			say(fmt.Sprintf("  %2d  %5s  %s", i+1, took, item.Title))
		case item.Act != migration.Await:
			rest = append(rest, fmt.Sprintf("  %2d  %5s  %s", i+1, "", item.Title))
		}
	}
	if len(rest) == 0 {
		return
	}
	say("")
	if in.whole {
		say("What was not needed, since it was so already")
	} else {
		say("What was done before, by whoever was at it, or was not needed")
	}
	for _, line := range rest {
		say(line)
	}
}

// awaited says that a wait that was over at once follows from a step that was
// taken.
func (in reportInput) awaited(wait migration.Item) bool {
	what, object, _ := strings.Cut(wait.ID, "/")
	var after []string
	switch what {
	case "disowned":
		after = []string{"retention/" + object}
	case "released":
		after = []string{"delete/" + object}
	case "reserved":
		after = []string{"ready/" + object}
	case "bound":
		after = []string{"create/" + object, "ready/" + object}
	case "started":
		after = []string{"start/" + object, "recreate/" + object}
	case "unused":
		for id := range in.sent {
			if strings.HasPrefix(id, "stop/") {
				return true
			}
		}
	}
	return slices.ContainsFunc(after, func(id string) bool { return in.sent[id] })
}

// replaces says that an operation replaces claims that there were before.
func replaces(j migration.Journal) bool {
	return slices.ContainsFunc(j.Volumes, func(v migration.Volume) bool { return v.From != nil })
}

func moment(t time.Time) string {
	if t.IsZero() {
		return "(not known)"
	}
	return t.UTC().Format(reportTime)
}

func by(who string) string {
	if who == "" {
		return ""
	}
	return "  by " + who
}

// differences says how the end differs from the beginning.
func differences(j migration.Journal, d migration.Direction, s migration.Scene) []string {
	var lines []string
	for _, v := range j.Volumes {
		switch {
		case d == migration.Back && v.From != nil:
			lines = append(lines, backText(v, s))
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

// backText says that a volume has its former claim again, and whether that was
// made anew.
func backText(v migration.Volume, s migration.Scene) string {
	text := fmt.Sprintf("Claim %s/%s has volume %s", v.From.Namespace, v.From.Name, v.Ref.Name)
	switch now := s.Claims[actions.ClaimKey{Namespace: v.From.Namespace, Name: v.From.Name}]; {
	case now == nil:
		return text + " again"
	case now.UID == v.FromUID:
		return text + " as before; it was never deleted"
	default:
		return text + " again, as before; it was made anew, so that its uid is another one (" + string(now.UID) + ")"
	}
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
