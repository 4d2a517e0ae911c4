package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"

	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/explain"
	"github.com/claimref/claimref/kube/sandbox"
	"github.com/claimref/claimref/ui"
)

func noon() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }

// answered is what a command printed, and how it ended.
type answered struct {
	out, err string
	code     int
}

// ask runs a command as the program does, at noon.
func ask(t *testing.T, args ...string) answered {
	t.Helper()
	var out, errs strings.Builder
	flags := genericclioptions.NewConfigFlags(true)
	root := &cobra.Command{Use: "claimref", SilenceUsage: true, SilenceErrors: true}
	flags.AddFlags(root.PersistentFlags())
	root.AddCommand(oneShots(flags, noon)...)
	root.SetOut(&out)
	root.SetErr(&errs)
	root.SetArgs(args)
	code := exitCode(root.ExecuteContext(t.Context()), &errs)
	return answered{out.String(), errs.String(), code}
}

// served is a cluster that is reached by a kubeconfig, as a user with rights
// to read all resources but some.
func served(t *testing.T, objects []sandbox.Object, without ...string) (kubeconfig string) {
	t.Helper()
	var may []sandbox.Rule
	for _, r := range append(all(), "events") {
		if !slices.Contains(without, string(r)) {
			may = append(may, sandbox.Rule{PolicyRule: rbacv1.PolicyRule{
				Verbs: []string{"get", "list", "watch"}, APIGroups: []string{"*"}, Resources: []string{string(r)},
			}})
		}
	}
	return servedAs(t, objects, may, "")
}

// servedAs serves somebody with certain rights, whose kubeconfig names a
// namespace.
func servedAs(t *testing.T, objects []sandbox.Object, may []sandbox.Rule, namespace string) (kubeconfig string) {
	t.Helper()
	s := sandbox.NewState(noon().Add(-24 * time.Hour)).Load(objects...)
	server := httptest.NewServer(sandbox.NewServer(s, sandbox.ServerOptions{
		// No token is sent without TLS.
		Access: map[string][]sandbox.Rule{"user": may}, DefaultUser: "user",
	}))
	t.Cleanup(server.Close)
	c := clientcmdapi.NewConfig()
	c.Clusters["c"] = &clientcmdapi.Cluster{Server: server.URL}
	c.Contexts["test"] = &clientcmdapi.Context{Cluster: "c", Namespace: namespace}
	c.CurrentContext = "test"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*c, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func namespaced(name string) sandbox.Object {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// kept is a volume that is open, and at no risk.
func kept(name string) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			PersistentVolumeSource:        corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "d", VolumeHandle: name}},
		},
		Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeAvailable},
	}
}

// doomed is a Released volume under policy Delete, once of shop/data.
func doomed(name string) *corev1.PersistentVolume {
	pv := kept(name)
	pv.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimDelete
	pv.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: "shop", Name: "data", UID: "gone"}
	pv.Status.Phase = corev1.VolumeReleased
	return pv
}

// TestAnswers compares whole answers about the demo, at a fixed time.
func TestAnswers(t *testing.T) {
	for name, args := range map[string]string{
		"risks":        "risks --demo",
		"risks-yaml":   "risks --demo=released -o yaml",
		"risks-json":   "risks --demo=released -o json --severity=critical",
		"claim":        "explain pvc too-large -n waiting --demo --tree --timeline",
		"claim-json":   "explain pvc/waiting/too-large --demo=pending -o json --tree --timeline",
		"volume":       "explain pv example-pv --demo=reuse --timeline --tree",
		"volume-taken": "explain volume rival-ledger --demo",
		"class":        "explain sc standard --demo",
		"class-yaml":   "explain storageclasses/static --demo=released -o yaml",
	} {
		t.Run(name, func(t *testing.T) {
			got := ask(t, strings.Fields(args)...)
			if got.code != 0 || got.err != "" {
				t.Fatalf("code %d: %s", got.code, got.err)
			}
			golden.RequireEqual(t, got.out)
		})
	}
}

// TestReadmeAnswers: what the README shows is what the commands print.
func TestReadmeAnswers(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, block := range strings.Split(string(text), "```console\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		command, want, _ := strings.Cut(block, "\n")
		args, ok := strings.CutPrefix(command, "$ claimref ")
		if !ok {
			t.Fatalf("the block begins with %q", command)
		}
		shown++
		if got := ask(t, strings.Fields(args)...); got.out != want {
			t.Errorf("%s prints\n%s\nthe README says\n%s", args, got.out, want)
		}
	}
	if shown < 2 {
		t.Errorf("the README shows %d answers", shown)
	}
}

func TestFlagsOfAnswers(t *testing.T) {
	for args, want := range map[string]string{
		"risks --demo -o xml":                        "use table, json, yaml",
		"risks --demo -o text":                       "use table, json, yaml",
		"explain pv x --demo -o table":               "use text, json, yaml",
		"risks --demo --severity=bad":                "use info, low, high, critical",
		"risks --demo --fail-on=info":                "use low, high, critical",
		"risks --demo --fail-on=":                    "use low, high, critical",
		"risks --demo --protect=[":                   "pattern",
		"risks --demo --context=prod":                "means a real cluster",
		"risks --demo= --server=https://prod":        "means a real cluster",
		"risks --demo=nothing":                       `no scenario "nothing"`,
		"risks --demo=list":                          "name one of them",
		"risks --demo surplus":                       "surplus",
		"risks --demo -n shp":                        "there is no namespace shp; did you mean shop",
		"explain --demo":                             "arg",
		"explain pv --demo":                          "which pv?",
		"explain pod x --demo":                       "use pv, pvc or sc",
		"explain pv/x y --demo":                      "leave y out",
		"explain pv example-vp --demo=reuse":         "there is no volume example-vp; did you mean example-pv?",
		"explain pvc too-larg -n waiting --demo":     "there is no claim too-larg in namespace waiting; did you mean too-large?",
		"explain pvc too-large --demo":               "in namespace default; did you mean too-large -n waiting?",
		"explain sc zzzzzzzzzzzzzzzz --demo":         "there is no class zzzzzzzzzzzzzzzz",
		"explain pvc/waiting/too-large/ --demo":      "there is no claim too-large/",
		"risks --kubeconfig=/nowhere/is/this --demo": "means a real cluster",
	} {
		got := ask(t, strings.Fields(args)...)
		if got.code != 1 || got.out != "" || !strings.Contains(got.err, want) || strings.Count(got.err, "\n") != 1 {
			t.Errorf("%s: code %d, %q, want 1 and one line with %q; it prints %q", args, got.code, got.err, want, got.out)
		}
	}
}

// TestFailOn: what a pipeline decides by.
func TestFailOn(t *testing.T) {
	risky := []sandbox.Object{namespaced("shop"), namespaced("other"), doomed("doomed"), kept("kept")}
	safe := []sandbox.Object{namespaced("shop"), kept("kept")}
	for _, tc := range []struct {
		name    string
		objects []sandbox.Object
		without []string
		args    string
		code    int
		out     string
		err     string
	}{
		{"risk, and no limit", risky, nil, "", 0, "pv/doomed", ""},
		{"risk above the limit", risky, nil, "--fail-on=high", 3, "pv/doomed", "1 risk is high or worse"},
		{"risk at the limit", risky, nil, "--fail-on=critical", 3, "pv/doomed", "1 risk is critical\n"},
		{"risk of the namespace's volume", risky, nil, "--fail-on=low -n shop", 3, "pv/doomed", "1 risk is low or worse"},
		{"no risk in the namespace", risky, nil, "--fail-on=low -n other", 0, "No risks\n", ""},
		{"all namespaces in spite of one", risky, nil, "--fail-on=low -n other -A", 3, "pv/doomed", "1 risk"},
		{"no risk", safe, nil, "--fail-on=low", 0, "No risks\n", ""},
		{"unread, and no limit", safe, []string{"pods"}, "", 0, "No risks in what could be read\n", "pods were not read: you may not list pods in namespace default\n"},
		{"unread is not safe", safe, []string{"pods"}, "--fail-on=critical", 4, "No risks in what could be read\n", "there may be some: not all could be read of pods\n"},
		{"a risk counts though something is unread", risky, []string{"pods"}, "--fail-on=high", 3, "pv/doomed", "1 risk is high or worse"},
		{"attachments tell of no risk", safe, []string{"volumeattachments"}, "--fail-on=low", 0, "No risks\n", ""},
		{"no volumes", safe, []string{"persistentvolumes"}, "--fail-on=low", 4, "", "persistentvolumes"},
		{"nothing", safe, []string{"persistentvolumes", "persistentvolumeclaims", "storageclasses"}, "", 1, "", "nothing can be said: persistentvolumes were not read: you may not list persistentvolumes; "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			kubeconfig := served(t, tc.objects, tc.without...)
			got := ask(t, append([]string{"risks", "--kubeconfig", kubeconfig}, strings.Fields(tc.args)...)...)
			if got.code != tc.code || !strings.Contains(got.out, tc.out) || !strings.Contains(got.err, tc.err) || tc.err == "" && got.err != "" {
				t.Errorf("code %d, want %d; it prints %q, and says %q", got.code, tc.code, got.out, got.err)
			}
		})
	}
}

// TestOneNamespace: who may read one namespace only is told so, and is not
// told that the others are safe.
func TestOneNamespace(t *testing.T) {
	wide := []kube.Resource{kube.PersistentVolumes, kube.StorageClasses, kube.Nodes, kube.Namespaces, kube.VolumeAttachments}
	var may []sandbox.Rule
	for _, r := range all() {
		rule := sandbox.Rule{Namespace: "shop", PolicyRule: rbacv1.PolicyRule{
			Verbs: []string{"get", "list", "watch"}, APIGroups: []string{"*"}, Resources: []string{string(r)},
		}}
		if slices.Contains(wide, r) {
			rule.Namespace = ""
		}
		may = append(may, rule)
	}
	kubeconfig := servedAs(t, []sandbox.Object{namespaced("shop"), namespaced("other"), kept("kept")}, may, "shop")
	if got := ask(t, "risks", "--fail-on=low", "-n", "shop", "--kubeconfig", kubeconfig); got.code != 0 || got.err != "" {
		t.Errorf("of its own namespace: code %d: %s", got.code, got.err)
	}
	got := ask(t, "risks", "--fail-on=low", "--kubeconfig", kubeconfig)
	if got.code != 4 || !strings.Contains(got.err, "pods were read from namespace shop only: you may not list pods\n") {
		t.Errorf("of all namespaces: code %d: %s", got.code, got.err)
	}
	got = ask(t, "risks", "--fail-on=low", "-A", "--kubeconfig", kubeconfig)
	if got.code != 4 || !strings.Contains(got.err, "pods were not read: you may not list pods\n") {
		t.Errorf("of all namespaces, asked for: code %d: %s", got.code, got.err)
	}
}

// TestEmptyDemo: an empty word does not lead to a real cluster.
func TestEmptyDemo(t *testing.T) {
	got, want := ask(t, "risks", "--demo="), ask(t, "risks", "--demo")
	if got != want || got.code != 0 {
		t.Errorf("--demo= gives %+v", got)
	}
}

// TestLessPrintedCountsAllTheSame: what is not printed is not forgotten.
func TestLessPrintedCountsAllTheSame(t *testing.T) {
	got := ask(t, "risks", "--demo", "--severity=critical", "--fail-on=low", "-o", "json")
	var report risksReport
	if err := json.Unmarshal([]byte(got.out), &report); err != nil {
		t.Fatal(err)
	}
	if got.code != 3 || report.Counts.Low == 0 || len(report.Risks) != report.Counts.Critical || report.Counts.Critical == 0 {
		t.Errorf("code %d, %+v, %d risks", got.code, report.Counts, len(report.Risks))
	}
	if got := ask(t, "risks", "--demo=available", "--severity=critical"); got.out != "No risks of this severity\n" {
		t.Errorf("it prints %q", got.out)
	}
}

// TestProtected: a claim that is to be protected, under policy Delete.
func TestProtected(t *testing.T) {
	for _, args := range [][]string{{"risks"}, {"explain", "pvc/shop/data-db-0"}} {
		got := ask(t, append(args, "--demo", "-o=json", "--protect=shop/data-*")...)
		without := ask(t, append(args, "--demo", "-o=json")...)
		if !strings.Contains(got.out, string(explain.RiskDeleteProtected)) || strings.Contains(without.out, string(explain.RiskDeleteProtected)) {
			t.Errorf("%v: %s", args, got.out)
		}
	}
}

// TestUnreadIsSaid: in the answer, and on standard error.
func TestUnreadIsSaid(t *testing.T) {
	objects := []sandbox.Object{namespaced("default"), kept("kept"), &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "fast"}, Provisioner: "p"}}
	kubeconfig := served(t, objects, "pods", "events")
	got := ask(t, "explain", "pv", "kept", "--kubeconfig", kubeconfig, "-o", "json", "--timeline")
	var data explainData
	if err := json.Unmarshal([]byte(got.out), &data); err != nil || got.code != 0 {
		t.Fatalf("code %d, %v: %s", got.code, err, got.err)
	}
	if len(data.Unread) != 2 || data.Unread[0].Missing != "list pods in namespace default" || data.Unread[1].Missing != "list events in namespace default" || len(data.Timeline) == 0 {
		t.Errorf("unread is %+v, the timeline %+v", data.Unread, data.Timeline)
	}
	for _, want := range []string{"pods were not read: you may not list pods in namespace default\n", "events of pv/kept could not be read: you may not list events in namespace default\n"} {
		if !strings.Contains(got.err, want) {
			t.Errorf("it does not say %q: %s", want, got.err)
		}
	}

	// What is forbidden is not said to be absent.
	kubeconfig = served(t, objects, "persistentvolumes")
	got = ask(t, "explain", "pv", "other", "--kubeconfig", kubeconfig)
	if got.code != 1 || !strings.Contains(got.err, "whether there is a volume other can't be told: persistentvolumes were not read: you may not list persistentvolumes") {
		t.Errorf("code %d: %s", got.code, got.err)
	}
	// A class has no history, which is no failure.
	got = ask(t, "explain", "sc", "fast", "--timeline", "--kubeconfig", kubeconfig)
	if got.code != 0 || !strings.Contains(got.err, "no history is kept") {
		t.Errorf("code %d: %s", got.code, got.err)
	}
}

// TestHostileAnswers: whatever things are called, the terminal is not told
// what to do, and the name can be read back.
func TestHostileAnswers(t *testing.T) {
	const evil = "x\x1b[2J\u009b31m\u202ex"
	pv := doomed(evil)
	pv.Status.Message = evil
	sc := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: evil}, Provisioner: evil}
	pv.Spec.StorageClassName = evil
	kubeconfig := served(t, []sandbox.Object{namespaced("shop"), pv, sc})
	for _, command := range [][]string{{"risks"}, {"explain", "pv", evil, "--tree", "--timeline"}, {"explain", "sc", evil, "--tree"}, {"explain", "pv", "y" + evil}} {
		for _, format := range []string{"", "json", "yaml"} {
			args := append(slices.Clone(command), "--kubeconfig", kubeconfig)
			if format != "" {
				args = append(args, "-o", format)
			}
			got := ask(t, args...)
			for _, r := range got.out + got.err {
				if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
					t.Errorf("%q -o %q prints %q", command, format, got.out+got.err)
					break
				}
			}
			var back any
			if format != "" && got.code == 0 && (yaml.Unmarshal([]byte(got.out), &back) != nil || !strings.Contains(strings.ToLower(got.out), `x\u001b[2j\u009b31m\u202ex`)) {
				t.Errorf("%q -o %s can't be read back: %s", command, format, got.out)
			}
		}
	}
}

// TestPrinter: sentences are wrapped for a terminal, beside or below the rest.
func TestPrinter(t *testing.T) {
	rows := [][]cell{
		{{"high", ui.Plain}, {"pv/a-name-with-hyphens", ui.Plain}, {"The first sentence is longer than what there is room for", ui.Plain}, {"Do this about it, or something else", ui.Plain}},
		{{"low", ui.Plain}, {"pv/b\x1b", ui.Plain}, {"日本語の文章です 日本語の文章です 日本語の文章です", ui.Plain}, {"Do", ui.Plain}},
	}
	for _, width := range []int{0, 1, 40, 95, 160} {
		var out bytes.Buffer
		p := &printer{out: &out, width: width}
		p.table("", []string{"SEVERITY", "OBJECT", "RISK", "REMEDY"}, rows, 2)
		for line := range strings.Lines(out.String()) {
			if w := ui.Width(strings.TrimSuffix(line, "\n")); width > 1 && w > width {
				t.Errorf("at width %d a line has %d cells: %q", width, w, line)
			}
		}
		if width >= 40 && !strings.Contains(out.String(), "pv/a-name-with-hyphens") {
			t.Errorf("at width %d a name is broken:\n%s", width, out.String())
		}
		if want := width == 0; want != (strings.Count(out.String(), "\n") == 3) && width != 160 {
			t.Errorf("at width %d it has %d lines:\n%s", width, strings.Count(out.String(), "\n"), out.String())
		}
		if got := strings.Contains(out.String(), "SEVERITY"); got != (width == 0 || width >= 95) {
			t.Errorf("at width %d the header is there: %v", width, got)
		}
	}
	if p := newPrinter(&bytes.Buffer{}, os.Getenv); p.theme != nil || p.width != 0 {
		t.Errorf("what is no terminal is styled: %+v", p)
	}
}

// TestSettled: an answer waits for all that can be read, and not for ever for
// what fails.
func TestSettled(t *testing.T) {
	resources := func(volumes, rest kube.ResourceState) *kube.Snapshot {
		s := &kube.Snapshot{Resources: map[kube.Resource]kube.ResourceState{}}
		for _, r := range all() {
			s.Resources[r] = rest
		}
		s.Resources[kube.PersistentVolumes] = volumes
		return s
	}
	synced, loading := kube.ResourceState{Phase: kube.Synced}, kube.ResourceState{}
	failing := kube.ResourceState{Err: "no"}
	forbidden := kube.ResourceState{Phase: kube.Forbidden}
	for name, tc := range map[string]struct {
		feed []*kube.Snapshot
		want int
		took time.Duration
	}{
		"nothing is known at first":   {[]*kube.Snapshot{{}, resources(loading, synced), resources(synced, synced)}, 2, 0},
		"forbidden is an answer":      {[]*kube.Snapshot{{}, resources(forbidden, synced)}, 1, 0},
		"one fails for good":          {[]*kube.Snapshot{{}, resources(failing, synced), resources(failing, synced)}, 2, readGrace},
		"one fails and comes":         {[]*kube.Snapshot{resources(failing, synced), resources(synced, synced)}, 1, 0},
		"one loads without an answer": {[]*kube.Snapshot{resources(loading, synced)}, 0, readTimeout},
		"others still load":           {[]*kube.Snapshot{resources(failing, loading)}, 0, readTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, at := time.Now(), 0
				got, err := settled(t.Context(), func(ctx context.Context) (*kube.Snapshot, error) {
					if at < len(tc.feed) {
						at++
						return tc.feed[at-1], nil
					}
					<-ctx.Done()
					return nil, ctx.Err()
				})
				if err != nil || got != tc.feed[tc.want] || time.Since(began) != tc.took {
					t.Errorf("snapshot %v after %s, %v; want number %d after %s", got, time.Since(began), err, tc.want, tc.took)
				}
			})
		})
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := settled(ended, func(ctx context.Context) (*kube.Snapshot, error) { return nil, ctx.Err() }); !errors.Is(err, context.Canceled) {
		t.Errorf("a signal gives %v", err)
	}
}

func TestSuggest(t *testing.T) {
	names := []string{"data-orders-0", "data-orders-1", "logs", "orders"}
	for wanted, want := range map[string]string{
		"log":           "; did you mean logs?",
		"data-order-0":  "; did you mean data-orders-0 or data-orders-1?",
		"orders":        "; did you mean orders or data-orders-0 or data-orders-1?",
		"something":     "",
		"data-orders-0": "; did you mean data-orders-0 or data-orders-1?",
	} {
		if got := suggest(wanted, names); got != want {
			t.Errorf("%s: %q, want %q", wanted, got, want)
		}
	}
	for _, tc := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"ab", "ba", 2}} {
		if got := distance(tc.a, tc.b); got != tc.want {
			t.Errorf("%s and %s are %d apart, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}
