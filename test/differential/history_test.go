package differential

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// world is where a history can be played: the sandbox or a control plane.
type world interface {
	name() string
	client() kubernetes.Interface
	// as is the client of a user; "" is the admin.
	as(user string) (kubernetes.Interface, error)
	// objects are all that exist, of the kinds that are compared.
	objects(ctx context.Context) ([]object, error)
	// settle waits until nothing more is going to happen by itself, and returns
	// the last view.
	settle(ctx context.Context, look func(context.Context) (view, error)) (view, error)
	addData(handle string) error
	hasData(handle string) bool
	// lag stops the controller manager, or lets it go on.
	lag(on bool) error
}

// view is a settled state as far as it is compared: the fields of each object,
// by its symbolic name.
type view map[string]fields

type fields map[string]string

// want is what has to come of an act, by object and field, such as
// "pv/vol phase". The field "exists" is "yes" for each object that does.
type want map[string]string

// history is a list of acts that is played in each world.
type history struct {
	name string
	// alone is for histories with classes that are the default of the whole
	// cluster; they are played one after the other.
	alone bool
	// lags is for histories that stop the controller manager for a while. They
	// are played when nothing else is.
	lags bool
	// long is for what is played only in the long form of the suite.
	long bool
	acts []act
}

// act is one step of a history.
type act struct {
	what string
	do   func(*play) outcome
	// request is what it does, if that is all.
	request *request
	// unsettled acts are followed by the next at once.
	unsettled bool
	// refused acts are expected to fail.
	refused bool
	want    want
}

// is adds what has to come of the act.
func (a act) is(w want) act {
	a.want = maps.Clone(a.want)
	if a.want == nil {
		a.want = want{}
	}
	maps.Copy(a.want, w)
	return a
}

// fails marks an act that has to be refused, with the code and the reason.
func (a act) fails(code, reason string) act {
	a.refused = true
	return a.is(want{"outcome code": code, "outcome reason": reason})
}

// outcome is what the client was answered.
type outcome fields

// play is a history on its way in one world.
type play struct {
	ctx   context.Context // a play is no longer than the test that it is part of
	world world
	// id is what "$" stands for.
	id string
	// step counts the acts.
	step int
	// seen tells what the uids are of that have been seen, and since which act.
	seen map[types.UID]identity
	// handles are the data that has been seen, by the symbolic names of its
	// volumes.
	handles map[string]string
	// versions are the resourceVersions before the act.
	versions map[types.UID]string
	// live are the symbolic names of what there is, last is the view of it, and
	// stamped the stamp of that.
	live    map[types.UID]string
	last    view
	stamped string
	// noted are uids to be used later.
	noted map[string]string
}

type identity struct {
	symbol string
	since  int
}

func newPlay(ctx context.Context, w world, id string) *play {
	return &play{
		ctx: ctx, world: w, id: id, seen: map[types.UID]identity{}, handles: map[string]string{},
		versions: map[types.UID]string{}, noted: map[string]string{},
	}
}

// real fills in what is symbolic in a text.
func (p *play) real(s string) string { return strings.ReplaceAll(s, "$", p.id) }

// symbolic takes out what differs from world to world, and from run to run.
func (p *play) symbolic(s string) string {
	for uid, is := range p.seen {
		s = strings.ReplaceAll(s, string(uid), "{"+is.symbol+"}")
	}
	return strings.ReplaceAll(anyUID.ReplaceAllString(s, "{?}"), p.id, "$")
}

// run plays an act and says what came of it.
func (p *play) run(t *testing.T, a act) (outcome, view) {
	t.Helper()
	p.step++
	out := a.do(p)
	if a.unsettled {
		return out, nil
	}
	now, err := p.world.settle(p.ctx, p.look)
	if err != nil {
		t.Fatalf("act %d, %s: settle %s: %v", p.step, a.what, p.world.name(), err)
	}
	return out, now
}

// check holds an outcome and a state to what an act has to lead to.
func (a act) check(out outcome, now view) []string {
	var wrong []string
	if !a.refused && out["code"] != "200" {
		wrong = append(wrong, "outcome: refused with "+out["code"]+" "+out["reason"]+": "+out["causes"])
	}
	for _, k := range slices.Sorted(maps.Keys(a.want)) {
		object, field, _ := strings.Cut(k, " ")
		is := now[object][field]
		if object == "outcome" {
			is = out[field]
		}
		if is != a.want[k] {
			wrong = append(wrong, k+": is "+quote(is)+", has to be "+quote(a.want[k]))
		}
	}
	return wrong
}

func quote(s string) string { return `"` + s + `"` }
