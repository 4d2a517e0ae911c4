package prediction

import (
	"fmt"
	"slices"
	"testing"

	"github.com/claimref/claimref/kube/binding"
)

// TestPairs predicts what becomes of each pair of the matrix, and sees it.
func TestPairs(t *testing.T) {
	seed, err := seed()
	if err != nil {
		t.Fatal(err)
	}
	pairs := draw(seed, size())
	all := waves(pairs)
	t.Logf("seed %d, %d pairs in %d waves", seed, len(pairs), len(all))
	predicted := 0
	met := make(coverage)
	for i, w := range all {
		good := w.play(t, fmt.Sprintf("wave-%03d", i))
		predicted += len(good)
		for p, f := range good {
			met.count(p, f)
		}
	}
	line := fmt.Sprintf("%d/%d pairs predicted", predicted, len(pairs))
	t.Log(line)
	if err := summarize(line); err != nil {
		t.Error(err)
	}
	met.check(t)
}

// coverage counts what the pairs had in them: a matrix that lacks something
// would prove nothing of it.
type coverage map[string]int

// atLeast is how often each case has to occur.
const atLeast = 2

func (c coverage) count(p *pair, f prediction) {
	v := f.verdict
	switch {
	case len(v.Blocking) == 1:
		c[fmt.Sprintf("%s alone on path %q", v.Blocking[0].Kind, v.Path)]++
	case v.Delayed:
		c["delayed"]++
	case v.Binds:
		c[fmt.Sprintf("bound on path %q", v.Path)]++
	}
	for _, m := range v.Ignored {
		if v.Binds {
			c[fmt.Sprintf("%s ignored on path %q", m.Kind, v.Path)]++
		}
	}
	if len(p.rivals) > 0 && len(f.volumes) > 0 && v.Binds && !slices.Contains(f.volumes, p.pv.Name) {
		c[rivalOf(v.Path)]++
	}
	if _, set, _ := binding.ClaimClass(p.pvc); !set && p.setting != none && len(f.volumes) > 0 && v.Path == binding.Ordinary {
		c[fmt.Sprintf("bound though without a class, default filled in: %t", f.class != "")]++
	}
}

// rivalOf names the case that a volume fits, but another is chosen.
func rivalOf(p binding.Path) string { return fmt.Sprintf("a rival is chosen on path %q", p) }

func (c coverage) check(t *testing.T) {
	t.Helper()
	wanted := []string{
		"delayed", rivalOf(binding.Ordinary), rivalOf(binding.ByClaimRef),
		"bound though without a class, default filled in: true", "bound though without a class, default filled in: false",
	}
	for path, cell := range map[binding.Path]struct{ blocks, ignores []binding.MismatchKind }{
		binding.Ordinary: {blocks: []binding.MismatchKind{
			binding.Deletion, binding.Capacity, binding.AccessModes, binding.VolumeMode, binding.Class, binding.AttributesClass,
			binding.Selector, binding.PhaseNotAvailable,
		}},
		binding.ByVolumeName: {
			blocks: []binding.MismatchKind{
				binding.Deletion, binding.Capacity, binding.AccessModes, binding.VolumeMode, binding.Class, binding.AttributesClass,
			},
			ignores: []binding.MismatchKind{binding.Selector},
		},
		binding.ByClaimRef: {
			blocks: []binding.MismatchKind{
				binding.Deletion, binding.Capacity, binding.AccessModes, binding.VolumeMode, binding.AttributesClass,
			},
			ignores: []binding.MismatchKind{binding.Class, binding.Selector, binding.PhaseNotAvailable},
		},
		binding.ByBoth: {ignores: []binding.MismatchKind{binding.Capacity, binding.AccessModes, binding.VolumeMode, binding.Class}},
		binding.None:   {blocks: []binding.MismatchKind{binding.ReservedForOther, binding.AsksForOther, binding.Misbound}},
	} {
		for _, k := range cell.blocks {
			wanted = append(wanted, fmt.Sprintf("%s alone on path %q", k, path))
		}
		for _, k := range cell.ignores {
			wanted = append(wanted, fmt.Sprintf("%s ignored on path %q", k, path))
		}
		if path != binding.None {
			wanted = append(wanted, fmt.Sprintf("bound on path %q", path))
		}
	}
	wanted = append(wanted, fmt.Sprintf("bound on path %q", binding.Rebind))
	for _, w := range wanted {
		if c[w] < atLeast {
			t.Errorf("the matrix has %d pairs with: %s; it needs %d", c[w], w, atLeast)
		}
	}
	t.Logf("%v", c)
}
