package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/user"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/views"
)

// backend joins what reads and what writes into what the pages need.
type backend struct {
	*kube.Client
	*kube.Feed
	// backups is nil where they can't be kept, and noBackups says why. Then no
	// operation can be begun. Where nothing is written, both are nil if there are
	// none.
	backups   *kube.Backups
	noBackups error
	// writes: neither read-only nor dry runs only.
	writes bool
	// who signs operations, such as "ann on laptop-7".
	who string
}

func newBackend(client *kube.Client, feed *kube.Feed, f flags, getenv func(string) string) backend {
	b := backend{Client: client, Feed: feed, writes: !f.readOnly && !f.dryRun, who: signature(user.Current, os.Hostname)}
	dir := f.backupDir
	if dir == "" {
		if dir, b.noBackups = kube.BackupDir(getenv, os.UserHomeDir); b.noBackups != nil {
			return b
		}
	}
	if _, err := os.Stat(dir); !b.writes && errors.Is(err, fs.ErrNotExist) {
		// What is there may be looked at; nothing is made.
		return b
	}
	b.backups, b.noBackups = kube.OpenBackups(dir)
	return b
}

// signature says to others who is at work: a person, and a machine.
func signature(current func() (*user.User, error), hostname func() (string, error)) string {
	who := "somebody"
	if u, err := current(); err == nil && u.Username != "" {
		who = u.Username
	}
	if host, err := hostname(); err == nil && host != "" {
		who += " on " + host
	}
	return who
}

// PlanOperation implements views.Cluster.
func (b backend) PlanOperation(ctx context.Context, req migration.Request, snap *kube.Snapshot) (kube.OperationPlan, error) {
	plan, err := b.Client.PlanOperation(ctx, req, snap, b.who)
	if err == nil && b.noBackups != nil && b.writes {
		plan.Checks = append(plan.Checks, actions.Check{
			ID: "backup", Severity: actions.Block, Text: "No backup can be kept: " + kube.Explain(b.noBackups),
			Remedy: "Name a folder that can be written to with --backup-dir",
		})
	}
	return plan, err
}

// NewOperation implements views.Cluster.
func (b backend) NewOperation(j migration.Journal) views.Operation {
	return b.Client.NewOperation(b.backups, j, b.who)
}

// ResumeOperation implements views.Cluster.
func (b backend) ResumeOperation(found migration.Found) (views.Operation, error) {
	return b.Client.ResumeOperation(b.backups, found, b.who)
}

// Backups implements views.Cluster.
func (b backend) Backups(context.Context) ([]kube.Backup, error) {
	if b.backups == nil {
		return nil, b.noBackups
	}
	return b.backups.List()
}

// History implements views.Cluster.
func (b backend) History(_ context.Context, ref actions.Ref) ([]kube.Record, error) {
	if b.backups == nil {
		return nil, b.noBackups
	}
	return b.backups.HistoryOf(ref)
}

// Report implements views.Cluster.
func (b backend) Report(_ context.Context, folder string) (string, error) {
	if b.backups == nil {
		return "", b.noBackups
	}
	return b.backups.ReadReport(folder)
}

// SaveReport implements views.Cluster.
func (b backend) SaveReport(_ context.Context, folder, text string) error {
	if b.backups == nil {
		return b.noBackups
	}
	return b.backups.Report(folder, text)
}
