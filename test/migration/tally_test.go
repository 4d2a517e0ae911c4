package migration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
)

// sort is what is done to an operation in a run.
type sort int

// The sorts, in the order of the table.
const (
	plain sort = iota
	resumed
	undone
	rivals
	scaleBacks
	lostAnswers
	sorts
)

func (s sort) String() string {
	return [...]string{"plain", "resumed", "undone", "rivals", "scale-backs", "lost answers"}[s]
}

// tally counts the runs, and how they ended.
type tally struct {
	mu     sync.Mutex
	order  []string
	writes map[string]int
	runs   map[string]*[sorts]int
	// lost are sentinels, and wrong are runs that did not end as they should.
	lost, wrong int
}

func newTally() *tally {
	return &tally{writes: make(map[string]int), runs: make(map[string]*[sorts]int)}
}

// add notes the kinds that there are, in the order of the table.
func (c *tally) add(kinds []kind) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range kinds {
		c.order = append(c.order, k.name)
		c.runs[k.name] = new([sorts]int)
	}
}

// took notes how many writes an operation takes when nothing comes between.
func (c *tally) took(kind string, writes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writes[kind] = writes
}

// ended counts a run, with the sentinels that it has lost.
func (c *tally) ended(t *testing.T, kind string, s sort, lost int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs[kind][s]++
	c.lost += lost
	if t.Failed() {
		c.wrong++
	}
}

// String is the table, and the sum of it.
func (c *tally) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	head := []string{"operation", "writes", "runs"}
	for s := resumed; s < sorts; s++ {
		head = append(head, s.String())
	}
	fmt.Fprintln(w, strings.Join(head, "\t")+"\t")
	total := 0
	for _, kind := range c.order {
		sum := 0
		for _, n := range c.runs[kind] {
			sum += n
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t", kind, c.writes[kind], sum)
		for s := resumed; s < sorts; s++ {
			fmt.Fprintf(w, "%d\t", c.runs[kind][s])
		}
		fmt.Fprintln(w)
		total += sum
	}
	_ = w.Flush()
	fmt.Fprintf(&text, "%d runs, %d sentinels lost, %d wrong ends\n", total, c.lost, c.wrong)
	return text.String()
}

// write leaves the table where `make e2e` shows it at its end.
func (c *tally) write(dir string) error {
	if dir == "" || len(c.order) == 0 {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder of results: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "migration.txt"), []byte(c.String()), 0o644); err != nil {
		return fmt.Errorf("write the results: %w", err)
	}
	return nil
}
