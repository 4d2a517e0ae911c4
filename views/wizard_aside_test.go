package views

import (
	"slices"
	"strings"
	"testing"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
)

// TestWizardGoesOnWithout: a workload that somebody deleted on purpose is left
// out after its name was typed, and what is left is rehearsed anew. While all
// are there, nothing offers that.
func TestWizardGoesOnWithout(t *testing.T) {
	const start = "start/shop/web"
	web := actions.Ref{Kind: migration.DeploymentKind, Namespace: "shop", Name: "web"}
	r := started(t, func(f *fakeOperation) {
		f.moves[start] = migration.Move{
			Kind: migration.Halt, Reason: "Deployment shop/web is gone",
			Remedy: "Create it again, by the manifest in the backup, and resume; or go on without it",
		}
	})
	op := r.cluster.op
	r.press("o")
	r.wantOn("every workload of it is there")
	r.wantOff("o go on without")
	r.runRest()
	r.typeText("web-data")
	r.press("enter")
	op.leavable = []actions.Ref{web}
	r.press("r")
	r.wantOn("Halted: Deployment shop/web is gone", "o go on without deploy/web", "r look again and resume")
	sent, rehearsed := len(op.sent), op.rehearsed
	r.press("o")
	r.wantOn("Go on without", "esc cancel")
	r.settleWalk()
	r.press("pgdown", "enter")
	r.wantOn("Type web to go on")
	r.typeText("web-data")
	r.press("enter")
	r.wantOn("that is web-data, not web")
	if len(op.sent) != sent {
		t.Fatal("it was sent on another word")
	}
	r.press("esc")
	r.press("enter")
	r.typeText("web")
	r.press("enter")
	if got := op.ids(); len(got) != sent+1 || got[sent] != "leave/shop/web" {
		t.Fatalf("sent %v\n%s", got, r.screen())
	}
	if op.rehearsed != rehearsed+1 || r.walk.stage != atReview {
		t.Errorf("what is left was not rehearsed anew: it stands at %v\n%s", r.walk.stage, r.screen())
	}
	if slices.ContainsFunc(r.walk.items, func(item migration.Item) bool { return item.ID == start }) {
		t.Error("its steps are still there")
	}
}

// TestLeftOutIsThereAgain: what came back meanwhile is not left out.
func TestLeftOutIsThereAgain(t *testing.T) {
	r := started(t, func(f *fakeOperation) {
		f.leavable = []actions.Ref{{Kind: migration.DeploymentKind, Namespace: "shop", Name: "web"}}
	})
	r.cluster.op.leavable = nil
	r.press("o")
	r.wantOn("Halted: deploy/web is there again")
	if len(r.cluster.op.sent) != 0 {
		t.Error("something was sent")
	}
}

// TestSetMadeAnewIsNotLeftOut: between a deletion and a creation of its own, the
// key line does not offer to do without the set.
func TestSetMadeAnewIsNotLeftOut(t *testing.T) {
	r := started(t, func(f *fakeOperation) {
		f.leavable = []actions.Ref{{Kind: migration.StatefulSetKind, Namespace: "shop", Name: "db"}}
	})
	r.wantOn("o go on without sts/db")
	r.walk.clock.send("remove/shop/db", noon())
	r.press("x")
	r.wantOff("o go on without sts/db")
}

// TestUndoSaysWhatItMeans: the word for an undo is typed knowing what will be
// deleted and made anew for it, and which pods that stops.
func TestUndoSaysWhatItMeans(t *testing.T) {
	item := func(id string, act migration.Act, kind actions.Kind, state migration.State) migration.Item {
		name := id[strings.LastIndexByte(id, '/')+1:]
		return migration.Item{Step: migration.Step{ID: id, Act: act, Target: actions.Ref{Kind: kind, Namespace: "shop", Name: name}}, State: state}
	}
	stop := item("stop/shop/db", migration.Scale, migration.StatefulSetKind, migration.Now)
	start := item("start/shop/db", migration.Scale, migration.StatefulSetKind, migration.Later)
	deletion := item("delete/data-db-0", migration.Delete, actions.ClaimKind, migration.Later)
	creation := item("create/data-db-0", migration.Create, actions.ClaimKind, migration.Later)
	set := item("recreate/shop/db", migration.Create, migration.StatefulSetKind, migration.Later)
	done := func(i migration.Item) migration.Item { i.State = migration.Done; return i }
	for want, items := range map[string][]migration.Item{
		"After that claim data-db-0 is deleted and made anew, sts/db is made anew; for it the pods of sts/db are stopped until the end. The data stay where they are.": {stop, deletion, creation, set, start},
		"After that claim data-db-0 is made anew; until then the pods of sts/db stay stopped. The data stay where they are.":                                           {done(stop), done(deletion), creation, done(set), start},
		"After that nothing is deleted or made anew; the pods of sts/db are started again. The data stay where they are.":                                              {done(stop), done(deletion), done(creation), done(set), start},
	} {
		p := &walkPage{asideItems: items}
		if got := p.turnText(); got != want {
			t.Errorf("said %q\nwant %q", got, want)
		}
	}
	r := started(t)
	r.approve("")
	r.press("u")
	r.settleWalk()
	r.press("pgdown", "enter")
	if shown := strings.Join(strings.Fields(r.dialog()), " "); !strings.Contains(shown, "After that ") {
		t.Errorf("the undo does not say what it means\n%s", r.screen())
	}
}

// TestRunStopsForAName: a step that has to be confirmed by name is never sent
// among others, however often the rest is asked for.
func TestRunStopsForAName(t *testing.T) {
	confirmed := func(p *kube.StepPreview) error {
		if p.Step.Act == migration.Create {
			p.Step.Confirm = "db"
		}
		return nil
	}
	r := webRig(t)
	op := r.cluster.op
	op.rehearsals, op.previews = confirmed, confirmed
	r.press("a", "m", "f", "enter")
	for range 2 {
		r.runRest()
		r.typeText("web-data")
		r.press("enter")
		if r.walk.stage != atDiff || r.walk.fresh.Step.Act != migration.Create {
			t.Fatalf("it stands at %v\n%s", r.walk.stage, r.screen())
		}
		r.wantText("This step has to be confirmed by name")
	}
	sent := len(op.sent)
	r.settleWalk()
	r.press("pgdown", "pgdown", "enter")
	r.wantOn("Type db to go on")
	r.press("enter")
	r.wantOn("nothing typed yet: type db to go on")
	if len(op.sent) != sent {
		t.Fatal("it was sent without its name")
	}
	r.typeText("db")
	r.press("enter")
	if len(op.sent) != sent+1 || op.sent[sent].Act != migration.Create {
		t.Errorf("sent %v", op.ids())
	}
}

// TestRivalRow: while another operation is in the way, the outline has a row for
// that, which has a short name.
func TestRivalRow(t *testing.T) {
	j := webJournal(t)
	row := migration.Step{ID: "alone/" + webVolume, Title: "Wait until no other operation has to do with Deployment shop/web", Act: migration.Await}
	if got := shortTitle(row, j); got != "no other operation" {
		t.Errorf("the row is called %q", got)
	}
	r := webRig(t)
	op := r.cluster.op
	op.items = slices.Insert(op.items, 0, migration.Item{Step: row})
	op.moves[row.ID] = migration.Move{Kind: migration.Halt, Reason: "operation x on volume y has to do with Deployment shop/web, too; nothing has been written", Remedy: "Finish that one, or undo it first"}
	r.press("a", "m", "f", "enter")
	r.wantOn("Halted: operation x on volume y", "no other operation", "r look again and resume")
	r.press("u")
	r.wantOn("undo: nothing was written yet")
	delete(op.moves, row.ID)
	op.items = op.items[1:]
	r.press("r")
	r.wantOn("enter start", "13 steps")
	r.wantOff("no other operation")
}

// TestLeftOutIsRehearsed: what was reviewed with a workload is not what is
// carried out without it.
func TestLeftOutIsRehearsed(t *testing.T) {
	r := started(t, func(f *fakeOperation) {
		f.leavable = []actions.Ref{{Kind: migration.DeploymentKind, Namespace: "shop", Name: "web"}}
	})
	rehearsed := r.cluster.op.rehearsed
	r.press("o")
	r.settleWalk()
	r.press("pgdown", "enter")
	r.typeText("web")
	r.press("enter")
	if r.cluster.op.rehearsed != rehearsed+1 || r.walk.stage != atReview {
		t.Errorf("it stands at %v\n%s", r.walk.stage, r.screen())
	}
}
