package differential

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// differences lists where two values made of maps differ, a line for each field:
// the way to it, then what the real control plane has and what the sandbox has.
func differences(theReal, sandbox any) []string {
	r := &reporter{}
	cmp.Equal(theReal, sandbox, cmp.Reporter(r))
	slices.Sort(r.lines)
	return r.lines
}

// reporter collects differences as go-cmp finds them.
type reporter struct {
	path  cmp.Path
	lines []string
}

func (r *reporter) PushStep(s cmp.PathStep) { r.path = append(r.path, s) }

func (r *reporter) PopStep() { r.path = r.path[:len(r.path)-1] }

func (r *reporter) Report(result cmp.Result) {
	if result.Equal() {
		return
	}
	var way []string
	for _, s := range r.path {
		if s, ok := s.(cmp.MapIndex); ok {
			way = append(way, s.Key().String())
		}
	}
	theReal, sandbox := r.path.Last().Values()
	show := func(valid bool, v any) string {
		if !valid {
			return "absent"
		}
		if f, ok := v.(fields); ok {
			return "there: " + fmt.Sprint(f)
		}
		return quote(fmt.Sprint(v))
	}
	line := fmt.Sprintf("%s: real %s", strings.Join(way, " "), show(theReal.IsValid(), value(theReal.IsValid(), theReal.Interface)))
	line += ", sandbox " + show(sandbox.IsValid(), value(sandbox.IsValid(), sandbox.Interface))
	r.lines = append(r.lines, line)
}

func value(valid bool, get func() any) any {
	if !valid {
		return nil
	}
	return get()
}
