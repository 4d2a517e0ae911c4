package views

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/explain"
	"github.com/claimref/claimref/ui"
)

// The tabs, by position.
const (
	volumesTab = iota
	claimsTab
	classesTab
	risksTab
)

// session is what all pages share. It is read and written on the update
// goroutine only.
type session struct {
	ctx     context.Context
	cluster Cluster
	opts    Options
	nav     ui.Nav
	// after makes a command that waits; in tests time stands still.
	after func(time.Duration, func(time.Time) tea.Msg) tea.Cmd

	// snap is never nil: before the first one came it is empty.
	snap *kube.Snapshot
	now  time.Time
	// namespace restricts the tables; empty for all.
	namespace string

	volumes *listPage[*kube.Volume]
	claims  *listPage[*kube.Claim]
	classes *listPage[*kube.Class]
	dangers *listPage[*explain.Risk]
	trail   []place
	// tracker finds the risks; while assessing, a command has it. risks are
	// those of the snapshot assessed: nil before the first ones are found, then
	// at most a little older than snap.
	tracker   *explain.Tracker
	risks     *explain.Risks
	assessed  *kube.Snapshot
	assessing bool
	// walks are the pages of operations that were opened, by the operation's
	// ID: one that is left is gone on with when it is opened again.
	walks map[string]*walkPage
	// backupsTurn counts how often the backups were asked for.
	backupsTurn int
	// partings are the pages that may have something to say when the program
	// ends.
	partings []parting
	// walking is how many pages of operations are open.
	walking int
	// found are the unfinished operations of the snapshot, and of which one.
	found    []unfinishedOp
	foundFor *kube.Snapshot
}

// place is where a jump came from.
type place struct {
	tab int
	id  string
}

// theme-independent glyph sets: the first is for terminals with Unicode.
func (s *session) glyph(fancy, ascii string) string {
	if s.opts.ASCII {
		return ascii
	}
	return fancy
}

// readState says how far a resource has been read; a resource that no
// snapshot has mentioned yet is loading.
func (s *session) readState(r kube.Resource) kube.ResourceState {
	return s.snap.Resources[r]
}

// volumeNamed finds a volume by name, nil when there is none.
func (s *session) volumeNamed(name string) *kube.Volume {
	return s.snap.Volume(name)
}

// claimNamed finds a claim, nil when there is none.
func (s *session) claimNamed(namespace, name string) *kube.Claim {
	return s.snap.Claim(namespace, name)
}
