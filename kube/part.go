package kube

import (
	"maps"

	"github.com/claimref/claimref/actions/migration"
)

// Part is this program's part in the operation: how it signs, and which way it
// goes. The latter is known here when the note on the volume, which says it
// too, has been taken off.
func (o *Operation) Part() migration.Run {
	o.mu.Lock()
	defer o.mu.Unlock()
	run := o.run
	run.Seen, run.Known = maps.Clone(run.Seen), maps.Clone(run.Known)
	return run
}
