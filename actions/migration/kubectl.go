package migration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/claimref/claimref/actions"
)

// Kubectl writes the steps of an outline as shell commands with comments, to
// be run one at a time. What it prints is safe to paste, whatever the objects
// are called. The flags say to kubectl which cluster is meant, and as whom.
//
// The commands send what the steps send, but for two things: a patch carries
// no resourceVersion, which nobody can know in advance, and the note on the
// lead volume is signed by the program that printed it.
func Kubectl(title string, items []Item, flags ...string) string {
	var b strings.Builder
	actions.ShellComment(&b, title)
	actions.ShellComment(&b, "Run one command at a time, and look at what its preview says first. Where it says to wait,")
	actions.ShellComment(&b, "go on only when that has come about: nothing else keeps you from going too far too soon.")
	for i, item := range items {
		b.WriteByte('\n')
		actions.ShellComment(&b, fmt.Sprintf("Step %d of %d: %s", i+1, len(items), item.Title))
		if item.State == Done {
			actions.ShellComment(&b, "(this has been done)")
		}
		if item.Why != "" {
			actions.ShellComment(&b, "Why: "+item.Why)
		}
		item.kubectl(&b, flags)
		if item.Then != "" {
			actions.ShellComment(&b, "Then: "+item.Then)
		}
	}
	return b.String()
}

// preview is how a command is tried out before it is run.
const preview = "Preview: the same with --dry-run=server -o yaml at its end"

// kubectl writes the commands of one step.
func (s Step) kubectl(b *strings.Builder, flags []string) {
	switch s.Act {
	case Patch, Scale:
		s.patchCommand(b, flags)
	case Create:
		actions.ShellComment(b, preview+"; as long as the name is taken, the server refuses it")
		b.WriteString(line(flags, "create", "-f", "-"))
		heredoc(b, s.Object)
	case Delete:
		s.deleteCommand(b, flags)
	case Await:
		s.awaitCommand(b, flags)
	}
}

func (s Step) patchCommand(b *strings.Builder, flags []string) {
	if replicas, ok := s.replicas(); ok {
		words := append([]string{"scale", s.object()}, s.inNamespace("--replicas="+fmt.Sprint(replicas))...)
		b.WriteString(line(flags, words...) + "\n")
		return
	}
	words := append([]string{"patch", s.object()}, s.inNamespace("--type=merge")...)
	patch := []string{"-p", string(plainJSON(s.Patch, ""))}
	actions.ShellComment(b, preview)
	b.WriteString(line(flags, slices.Concat(words, patch)...) + "\n")
}

// replicas is the number that a scaling sets.
func (s Step) replicas() (int64, bool) {
	var patch struct {
		Spec struct {
			Replicas *int64 `json:"replicas"`
		} `json:"spec"`
	}
	if s.Act != Scale || json.Unmarshal(s.Patch, &patch) != nil || patch.Spec.Replicas == nil {
		return 0, false
	}
	return *patch.Spec.Replicas, true
}

// deleteCommand deletes by uid: "kubectl delete" has no flag for that, but
// takes the request as it is.
func (s Step) deleteCommand(b *strings.Builder, flags []string) {
	path, known := s.path()
	if s.Target.UID == "" || !known {
		actions.ShellComment(b, "Which object this is will be known when its turn comes; make sure of its uid, then:")
		words := append([]string{"delete", s.object()}, s.inNamespace("--wait=false")...)
		if s.Orphan {
			words = append(words, "--cascade=orphan")
		}
		actions.ShellComment(b, line(flags, words...))
		return
	}
	options := map[string]any{
		"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": map[string]any{"uid": s.Target.UID},
	}
	if s.Orphan {
		options["propagationPolicy"] = "Orphan"
	}
	actions.ShellComment(b, "Deletes the object of this uid and no other; it can't be taken back")
	b.WriteString(line(flags, "delete", "--raw", path, "-f", "-"))
	heredoc(b, encode(options))
}

// awaitCommand writes how kubectl waits for it; nothing but a look where
// kubectl can't.
func (s Step) awaitCommand(b *strings.Builder, flags []string) {
	wait := func(phase string) {
		words := append([]string{"wait", "--for=jsonpath={.status.phase}=" + phase, "--timeout=10m", s.object()}, s.inNamespace()...)
		b.WriteString(line(flags, words...) + "\n")
	}
	what, _, _ := strings.Cut(s.ID, "/")
	switch {
	case what == "released":
		wait("Released")
	case what == "reserved":
		wait("Available")
	case what == "bound":
		wait("Bound")
	case what == "started" && (s.Target.Kind == StatefulSetKind || s.Target.Kind == DeploymentKind):
		b.WriteString(line(flags, append([]string{"rollout", "status", s.object()}, s.inNamespace()...)...) + "\n")
	case what == "unused":
		actions.ShellComment(b, "Look for pods of any phase that name the claims, and for attachments of "+s.Target.Name+":")
		b.WriteString(line(flags, "get", "pods", "--all-namespaces", "-o",
			`jsonpath={range .items[*]}{.metadata.namespace}/{.metadata.name}{" "}{.spec.volumes[*].persistentVolumeClaim.claimName}{"\n"}{end}`) + "\n")
		b.WriteString(line(flags, "get", "volumeattachments", "-o", "wide") + "\n")
	default:
		b.WriteString(line(flags, append([]string{"get", s.object()}, s.inNamespace("-o", "yaml")...)...) + "\n")
	}
}

// object names the target as kind/name, which can't be taken for a flag.
func (s Step) object() string {
	kind := strings.ToLower(string(s.Target.Kind))
	switch s.Target.Kind {
	case actions.VolumeKind:
		kind = "pv"
	case actions.ClaimKind:
		kind = "pvc"
	default:
		// kubectl knows the others by their own names.
	}
	return kind + "/" + s.Target.Name
}

func (s Step) inNamespace(words ...string) []string {
	if s.Target.Namespace == "" {
		return words
	}
	return append([]string{"--namespace=" + s.Target.Namespace}, words...)
}

// path is the target's in the API.
func (s Step) path() (string, bool) {
	var group, plural string
	switch s.Target.Kind {
	case actions.ClaimKind:
		group, plural = "/api/v1", "persistentvolumeclaims"
	case PodKind:
		group, plural = "/api/v1", "pods"
	case StatefulSetKind:
		group, plural = "/apis/apps/v1", "statefulsets"
	default:
		return "", false
	}
	return group + "/namespaces/" + url.PathEscape(s.Target.Namespace) + "/" + plural + "/" + url.PathEscape(s.Target.Name), true
}

// line is one kubectl call. No object has a name with characters that would
// drive a terminal; a journal that somebody else wrote may say so.
func line(flags []string, words ...string) string {
	all := slices.Concat([]string{"kubectl"}, flags, words)
	for i, word := range all {
		all[i] = actions.ShellWord(strings.Map(func(r rune) rune {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
				return '?'
			}
			return r
		}, word))
	}
	return strings.Join(all, " ")
}

// heredoc feeds JSON to the command before it. A line of JSON is never the
// word that ends it, and the quotes keep the shell from reading in it.
func heredoc(b *strings.Builder, object json.RawMessage) {
	b.WriteString(" <<'END'\n")
	b.Write(plainJSON(object, "  "))
	b.WriteString("\nEND\n")
}

// plainJSON writes JSON in ASCII, so that nothing in it drives a terminal or
// is taken for something that it is not.
func plainJSON(raw json.RawMessage, indent string) []byte {
	var out bytes.Buffer
	if indent == "" {
		if json.Compact(&out, raw) != nil {
			return []byte("{}")
		}
	} else if json.Indent(&out, raw, "", indent) != nil {
		return []byte("{}")
	}
	var b bytes.Buffer
	for _, r := range out.String() {
		switch {
		case r == '\n' || r >= 0x20 && r < 0x7f:
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}
