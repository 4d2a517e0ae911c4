package migration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/test/controlplane"
)

// errandEnv tells a process of the test binary that it is the program under
// test, and what to do.
const errandEnv = "CLAIMREF_MIGRATION_ERRAND"

// errand is what a person sets out to do with the program. They approve of
// every preview.
type errand struct {
	Kubeconfig string `json:"kubeconfig"`
	Who        string `json:"who"`
	// Request begins an operation. Without one, that which is under way on the
	// volume is taken over, in the direction given.
	Request   *migration.Request  `json:"request,omitempty"`
	Volume    string              `json:"volume"`
	Direction migration.Direction `json:"direction,omitempty"`
	// Kill ends the process at a write; 0 is none. Sent: when the server has
	// answered, otherwise before it is asked.
	Kill int  `json:"kill,omitempty"`
	Sent bool `json:"sent,omitempty"`
}

// What became of an errand.
const (
	finished = "finished"
	halted   = "halted"
	refused  = "refused"
	// nothing: no operation is under way on the volume.
	nothing = "nothing"
)

// report says what became of an errand.
type report struct {
	Outcome string `json:"outcome"`
	// Reason is why it halted, or which checks have refused it.
	Reason string `json:"reason,omitempty"`
	// Steps are the IDs of the writes that were approved, in their order.
	Steps []string `json:"steps,omitempty"`
	// Folder is that of the backup.
	Folder string `json:"folder,omitempty"`
}

// runErrand is the program under test as a process.
func runErrand(ctx context.Context, text string) int {
	var e errand
	err := json.Unmarshal([]byte(text), &e)
	var r report
	if err == nil {
		r, err = e.run(ctx, e.killer(), os.Getenv)
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(r)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// killer is a wire that ends its own process as if the machine had failed.
func (e errand) killer() *wire {
	die := func() {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // It has no more than a moment left.
	}
	return &wire{
		before: func(write int) {
			if write == e.Kill && !e.Sent {
				die()
			}
		},
		after: func(write int, _ *http.Request) error {
			if write == e.Kill && e.Sent {
				die()
			}
			return nil
		},
	}
}

// run does the errand. The environment says where backups are kept.
func (e errand) run(ctx context.Context, w *wire, getenv func(string) string) (report, error) {
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	config := newWiredConfig(e.Kubeconfig, w)
	client, err := kube.Connect(kube.Config{
		ClientConfig: config, UserAgent: "claimref-test/" + e.Who,
		Timing: kube.Timing{Poll: poll, Readback: poll, Request: time.Minute},
	})
	if err != nil {
		return report{}, err
	}
	dir, err := kube.BackupDir(getenv, func() (string, error) { return getenv("HOME"), nil })
	if err != nil {
		return report{}, err
	}
	backups, err := kube.OpenBackups(dir)
	if err != nil {
		return report{}, err
	}
	snap := &kube.Snapshot{Link: kube.Link{Version: controlplane.Version}}
	var o *kube.Operation
	if e.Request != nil {
		plan, err := client.PlanOperation(ctx, *e.Request, snap, e.Who)
		if err != nil {
			return report{}, err
		}
		if blocks := blocking(plan.Checks); blocks != "" {
			return report{Outcome: refused, Reason: blocks}, nil
		}
		o = client.NewOperation(backups, plan.Journal, e.Who)
	} else if o, err = e.takeOver(ctx, config, client, backups, snap); err != nil || o == nil {
		return report{Outcome: nothing}, err
	}
	return drive(ctx, o, snap)
}

func drive(ctx context.Context, o *kube.Operation, snap *kube.Snapshot) (report, error) {
	r := report{Outcome: finished}
	_, err := o.Drive(ctx, snap, func(p kube.StepPreview) error {
		if p.Diff == "" || !p.DryRun.Supported || p.Temporary != "" {
			return fmt.Errorf("step %s has a preview that nobody could approve: %+v", p.Step.ID, p)
		}
		r.Steps = append(r.Steps, p.Step.ID)
		return nil
	})
	r.Folder = o.Folder()
	if halt, ok := errors.AsType[*kube.HaltError](err); ok {
		if halt.Move.Reason == "" || halt.Move.Remedy == "" {
			return r, fmt.Errorf("it halts without a reason or a way out: %+v", halt.Move)
		}
		r.Outcome, r.Reason = halted, halt.Error()
		return r, nil
	}
	return r, err
}

// takeOver finds the operation that is under way on the volume, as another
// program on another machine does; nil if there is none.
func (e errand) takeOver(ctx context.Context, config wiredConfig, client *kube.Client, backups *kube.Backups, snap *kube.Snapshot) (*kube.Operation, error) {
	rest, err := config.ClientConfig()
	if err != nil {
		return nil, err
	}
	api, err := kubernetes.NewForConfig(rest)
	if err != nil {
		return nil, err
	}
	pv, err := api.CoreV1().PersistentVolumes().Get(ctx, e.Volume, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	found, err := migration.Find(pv)
	if err != nil || found == nil {
		return nil, err
	}
	o, err := client.ResumeOperation(backups, *found, e.Who)
	if err != nil {
		return nil, err
	}
	if err := ask(ctx, o, snap, o.TakeOver); err != nil {
		return nil, err
	}
	if found.Direction == e.Direction {
		return o, nil
	}
	return o, ask(ctx, o, snap, func(s kube.Standing) migration.Step { return o.Turn(s, e.Direction) })
}

// ask takes a step that the person asked for. Others may write to the volume at
// the same time.
func ask(ctx context.Context, o *kube.Operation, snap *kube.Snapshot, which func(kube.Standing) migration.Step) error {
	for {
		s, err := o.Look(ctx, snap)
		if err != nil {
			return err
		}
		p, err := o.Preview(ctx, which(s))
		if err == nil {
			_, err = o.Do(ctx, snap, p)
		}
		if kube.KindOf(err) != kube.KindConflict {
			return err
		}
	}
}

// blocking are the checks that stand against a request.
func blocking(checks []actions.Check) string {
	var text string
	for _, c := range checks {
		if c.Severity == actions.Block {
			text += c.ID + ": " + c.Text + "\n"
		}
	}
	return text
}
