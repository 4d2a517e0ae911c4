package migration

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/actions"
)

// none: the check must not be there.
const none actions.Severity = -1

// draftCase spoils a stage. The check of that ID must then have that severity
// and say that; on the stage as it was there must be no such check, unless it
// is one that passes.
type draftCase struct {
	name     string
	stage    func() *stage
	spoils   []spoil
	id       string
	severity actions.Severity
	text     string
}

func draftCases() []draftCase {
	return slices.Concat(
		volumeCases(), claimCases(), ownerCases(), userCases(), jobCases(), setCases(), limitCases(), unreadCases(), moveCases(), recreateCases(),
	)
}

// stages are those in which nothing is amiss.
func stages() map[string]func() *stage {
	return map[string]func() *stage{"bare": bare, "running": running, "set": set, "moving": moving, "missing": missing}
}

func TestStages(t *testing.T) {
	for name, stage := range stages() {
		st := stage()
		j, checks := Draft(st.req, st.s)
		for _, c := range checks {
			if c.Severity != actions.Pass {
				t.Errorf("%s: %+v", name, c)
			}
		}
		if len(j.Volumes) == 0 {
			t.Errorf("%s: no journal", name)
		}
	}
}

// checkOf finds a check, by preference one that says the text.
func checkOf(checks []actions.Check, id string, severity actions.Severity, text string) (found *actions.Check) {
	for i := range checks {
		if checks[i].ID != id || severity != none && checks[i].Severity != severity {
			continue
		}
		if found = &checks[i]; strings.Contains(found.Text, text) {
			break
		}
	}
	return found
}

func TestChecks(t *testing.T) {
	for _, c := range draftCases() {
		t.Run(c.id+"/"+c.name, func(t *testing.T) {
			plain := c.stage()
			if _, checks := Draft(plain.req, plain.s); c.severity > actions.Pass && checkOf(checks, c.id, none, "") != nil {
				t.Errorf("it is there before anything is amiss: %+v", checks)
			}
			st := c.stage().spoilt(c.spoils...)
			_, checks := Draft(st.req, st.s)
			found := checkOf(checks, c.id, c.severity, c.text)
			switch {
			case c.severity == none && found != nil:
				t.Errorf("unexpected: %+v", *found)
			case c.severity != none && found == nil:
				t.Errorf("not checked; got %+v", checks)
			case c.severity != none && !strings.Contains(found.Text, c.text):
				t.Errorf("got %q, want %q in it", found.Text, c.text)
			}
			for _, check := range checks {
				if check.Text == "" || strings.HasSuffix(check.Text, ".") || strings.HasSuffix(check.Remedy, ".") {
					t.Errorf("a check is a sentence without a period: %+v", check)
				}
				if check.Severity == actions.Warn && check.Remedy == "" {
					t.Errorf("a warning without a remedy: %+v", check)
				}
			}
		})
	}
}

// TestEveryCheckIsHit reads the checks out of the source: each must have a
// case in which it has its severity. That it is not there otherwise is part of
// every case.
func TestEveryCheckIsHit(t *testing.T) {
	type rule struct {
		id       string
		severity actions.Severity
	}
	hit := map[rule]bool{}
	for _, c := range draftCases() {
		hit[rule{c.id, c.severity}] = true
	}
	emitted := map[rule]bool{}
	for _, r := range unreadRules() {
		emitted[rule{r.id, r.severity}] = true
	}
	for _, stage := range stages() {
		st := stage()
		_, checks := Draft(st.req, st.s)
		for _, c := range checks {
			hit[rule{c.ID, c.Severity}] = true
		}
	}
	severities := map[string]actions.Severity{"pass": actions.Pass, "warn": actions.Warn, "block": actions.Block}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			receiver, ok := method.X.(*ast.Ident)
			severity, known := severities[method.Sel.Name]
			if !ok || receiver.Name != "d" || !known {
				return true
			}
			literal, ok := call.Args[0].(*ast.BasicLit)
			if !ok {
				t.Errorf("%s: the ID of a check is not written out", file)
				return true
			}
			id, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			emitted[rule{id, severity}] = true
			return true
		})
	}
	if len(emitted) < 80 {
		t.Errorf("only %d checks were found in the source", len(emitted))
	}
	for r := range emitted {
		if !hit[r] {
			t.Errorf("no case has check %q with severity %d", r.id, r.severity)
		}
	}
	for r := range hit {
		if !emitted[r] && r.severity != none {
			t.Errorf("a case asks for check %q with severity %d, which nothing emits", r.id, r.severity)
		}
	}
}

// TestSourceIsToldOnce: a set may have a hundred volumes from one source.
func TestSourceIsToldOnce(t *testing.T) {
	st := set()
	for _, c := range st.s.Claims {
		c.Labels["argocd.argoproj.io/instance"] = "shop"
	}
	_, checks := Draft(st.req, st.s)
	var told []string
	for _, c := range checks {
		if c.ID == "source" {
			told = append(told, c.Text)
		}
	}
	want := "Argo CD application shop seems to keep claim shop/data-db-0, claim shop/data-db-1, claim shop/data-db-2, claim shop/data-db-3 as its source says, and may undo what is done here"
	if len(told) != 1 || told[0] != want {
		t.Errorf("got %q", told)
	}
}

func TestList(t *testing.T) {
	for want, names := range map[string][]string{
		"":                         nil,
		"a, b, c, d, e":            {"a", "b", "c", "d", "e"},
		"a, b, c, d, e and 2 more": {"a", "b", "c", "d", "e", "f", "g"},
	} {
		if got := list(names); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestRenameRemedy(t *testing.T) {
	for namespace, want := range map[string]string{"lab": "Move the workload to namespace lab", "shop": "to exhibit before you start it"} {
		st := moving().spoilt(to(namespace, "exhibit"))
		st.s.Deployments = append(st.s.Deployments, deployment("web", "data"))
		_, checks := Draft(st.req, st.s)
		if c := checkOf(checks, "template-names", actions.Warn, ""); c == nil || !strings.Contains(c.Remedy, want) {
			t.Errorf("to %s: got %+v", namespace, c)
		}
	}
}

// TestCondensed: what is the same for all volumes of a set is told once, and
// what blocks is told of each.
func TestCondensed(t *testing.T) {
	st := set()
	st.s.Volumes["disk-3"].Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
	st.s.Drivers = nil
	for _, name := range []string{"disk-0", "disk-2"} {
		st.s.Volumes[name].DeletionTimestamp = &metav1.Time{}
	}
	_, checks := Draft(st.req, st.s)
	texts := map[string][]string{}
	for _, c := range checks {
		texts[c.ID] = append(texts[c.ID], c.Text)
	}
	for id, want := range map[string][]string{
		"bound": {"Volume disk-0 and claim shop/data-db-0 are Bound to each other; 3 more likewise"},
		"policy": {
			"The reclaim policy of volume disk-0 is set to Retain first, and to Delete again once the new claim is Bound; 2 more likewise",
			"The reclaim policy of volume disk-3 is Retain: the data are kept, whatever happens to the claim",
		},
		"driver-unseen": {"Whether CSI driver disks.example.test of volume disk-0 is registered in the cluster could not be looked up; 3 more likewise"},
		"volume-terminating": {
			"Volume disk-0 is being deleted, which can't be taken back; no claim can get it any more",
			"Volume disk-2 is being deleted, which can't be taken back; no claim can get it any more",
		},
	} {
		if !slices.Equal(texts[id], want) {
			t.Errorf("%s: got %q", id, texts[id])
		}
	}
}
