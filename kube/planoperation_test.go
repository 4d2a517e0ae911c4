package kube

import (
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube/sandbox"
)

// labSnapshot is what a feed would say of the lab's server.
func labSnapshot() *Snapshot { return &Snapshot{Link: Link{Phase: Live, Version: "v1.37.2"}} }

func (l *lab) single(claim string) migration.Request {
	return migration.Request{Verb: migration.SinglePod, Volume: refOf(actions.VolumeKind, l.volume(claim)), Recreate: true}
}

func blocks(checks []actions.Check) []string {
	var ids []string
	for _, c := range checks {
		if c.Severity == actions.Block {
			ids = append(ids, c.ID+": "+c.Text)
		}
	}
	return ids
}

func TestPlanAndDriveAnOperation(t *testing.T) {
	for claim, manifest := range map[string]string{"data": labDeployment, "data-db-0": labSet} {
		inLab(t, func(t *testing.T, l *lab) {
			before := l.state().Version()
			plan, err := l.client.PlanOperation(t.Context(), l.single(claim), labSnapshot(), "ann on laptop")
			j, checks, outline := plan.Journal, plan.Checks, plan.Outline
			if err != nil || len(blocks(checks)) > 0 {
				t.Fatalf("%v, %v", blocks(checks), err)
			}
			if l.state().Version() != before || len(l.wire.real()) != 0 {
				t.Error("planning has written something")
			}
			if id, err := hex.DecodeString(j.ID); err != nil || len(id) != 4 || j.By != "ann on laptop" || j.Started.IsZero() {
				t.Errorf("journal %s of %s, %v", j.ID, j.By, j.Started)
			}
			if len(outline) == 0 || !slices.ContainsFunc(checks, func(c actions.Check) bool { return c.ID == "trial" }) {
				t.Errorf("%d steps, checks %+v", len(outline), checks)
			}
			if s, err := l.operation(t, j).Drive(t.Context(), nil, yes); err != nil {
				t.Fatalf("%+v, %v", s.Move, err)
			}
			l.checkMigrated(claim, corev1.ReadWriteOncePod)
		}, manifest)
	}
}

func TestPlanOperationSaysWhatIsInTheWay(t *testing.T) {
	everything := rbacv1.PolicyRule{Verbs: []string{"get", "list", "watch"}, APIGroups: []string{"*"}, Resources: []string{"*"}}
	most := rbacv1.PolicyRule{Verbs: []string{"patch", "create"}, APIGroups: []string{"*"}, Resources: []string{"*"}}
	for name, tt := range map[string]struct {
		options []func(*labOptions)
		spoil   func(*lab)
		want    string
		// asks: rights and trials are asked about.
		asks bool
	}{
		"a right is missing": {
			options: []func(*labOptions){user(sandbox.Rule{PolicyRule: everything}, sandbox.Rule{PolicyRule: most})},
			want:    "right: The server says that you may not delete persistentvolumeclaims in namespace exam", asks: true,
		},
		"the new claim is refused": {
			spoil: func(l *lab) {
				l.wire.before = func(r *http.Request) (*http.Response, error) {
					if r.Method == http.MethodPost && r.URL.Query().Get("dryRun") == "All" {
						return refusal(422, "Invalid", "no such claims here")
					}
					return nil, nil
				}
			},
			want: "trial-refused: ", asks: true,
		},
		"the volume is being deleted": {
			spoil: func(l *lab) {
				pv := l.volume("data")
				l.server.Apply(func(s *sandbox.State) *sandbox.State { return s.Delete(sandbox.KeyOf(pv), metav1.DeleteOptions{}) })
			},
			want: "volume-terminating: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, tt.options...)
			req := l.single("data")
			if tt.spoil != nil {
				tt.spoil(l)
			}
			plan, err := l.client.PlanOperation(t.Context(), req, labSnapshot(), "ann")
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(blocks(plan.Checks), "\n"); !strings.Contains(got, tt.want) || len(plan.Outline) != 0 {
				t.Errorf("%d steps, blocked by %s", len(plan.Outline), got)
			}
			if asked := len(l.wire.dry()) > 0; asked != tt.asks {
				t.Errorf("sent %v", l.wire.sent)
			}
		})
	}
}

// A plan can be looked at where nothing may be written.
func TestPlanOperationReadOnly(t *testing.T) {
	l := newLab(t, withConfig(func(c *Config) { c.ReadOnly = true }))
	plan, err := l.client.PlanOperation(t.Context(), l.single("data"), labSnapshot(), "ann")
	if err != nil || len(plan.Outline) == 0 || len(l.wire.sent) != 0 {
		t.Errorf("%d steps, %v, %v, %v", len(plan.Outline), plan.Checks, l.wire.sent, err)
	}
}

func TestPlanOperationWithoutAServer(t *testing.T) {
	l := newLab(t)
	req := l.single("data")
	l.wire.before = func(*http.Request) (*http.Response, error) { return nil, errLost }
	if _, err := l.client.PlanOperation(t.Context(), req, labSnapshot(), "ann"); err == nil {
		t.Error("there is a plan")
	}
}

// Owners of kinds that nobody here knows are named apart from what the checks
// say, before and after the user has taken responsibility for them.
func TestPlanOperationNamesOperators(t *testing.T) {
	const owner = "Shop exam/main"
	for _, named := range [][]string{nil, {owner}} {
		inLab(t, func(t *testing.T, l *lab) {
			req := l.single("data")
			req.Operators = named
			plan, err := l.client.PlanOperation(t.Context(), req, labSnapshot(), "ann")
			if err != nil || !slices.Equal(plan.Operators, []string{owner}) {
				t.Errorf("operators %v, %v", plan.Operators, err)
			}
			if got := len(blocks(plan.Checks)) > 0; got != (named == nil) {
				t.Errorf("blocked by %v", blocks(plan.Checks))
			}
		}, strings.Replace(labDeployment, "namespace: exam}", `namespace: exam, ownerReferences: [{apiVersion: shops.example.test/v1, kind: Shop, name: main, uid: shop-1, controller: true}]}`, 1))
	}
}
