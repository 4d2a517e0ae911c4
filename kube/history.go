package kube

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
)

// HistoryOf reads what operations did to a volume or a claim, the oldest first,
// with what they did for its sake to the workloads that use it. A volume is told
// by its uid, where the Ref has one: another one may have had its name.
//
// What could be read comes with the error for what could not.
func (b *Backups) HistoryOf(ref actions.Ref) ([]Record, error) {
	backups, err := b.List()
	if err != nil {
		return nil, err
	}
	var found []Record
	var errs []error
	for _, backup := range backups {
		switch {
		case errors.Is(backup.Err, fs.ErrNotExist):
			// It was not finished, so that nothing was written either.
			continue
		case backup.Err != nil:
			errs = append(errs, backup.Err)
			continue
		}
		aside, concerned := asideOf(backup.Journal, ref)
		if !concerned {
			continue
		}
		records, err := b.History(backup.Path)
		if err != nil {
			errs = append(errs, err)
		}
		for _, r := range records {
			if !slices.Contains(aside, r.Target) {
				found = append(found, r)
			}
		}
	}
	slices.SortStableFunc(found, func(x, y Record) int { return x.Time.Compare(y.Time) })
	return found, errors.Join(errs...)
}

// asideOf names the targets of an operation that have nothing to do with an
// object, which are the operation's other volumes and their claims; and says
// whether it has to do with the object at all.
func asideOf(j migration.Journal, ref actions.Ref) (aside []string, concerned bool) {
	for _, v := range j.Volumes {
		names := []string{nameOf(v.Ref)}
		is := ref.Kind == actions.VolumeKind && v.Ref.Name == ref.Name && (ref.UID == "" || v.Ref.UID == ref.UID)
		if v.To != nil {
			names = append(names, claimName(v.To.Namespace, v.To.Name))
		}
		if v.From != nil {
			names = append(names, claimName(v.From.Namespace, v.From.Name))
		}
		if is || ref.Kind == actions.ClaimKind && slices.Contains(names[1:], nameOf(ref)) {
			concerned = true
		} else {
			aside = append(aside, names...)
		}
	}
	return aside, concerned
}

func claimName(namespace, name string) string {
	return nameOf(actions.Ref{Kind: actions.ClaimKind, Namespace: namespace, Name: name})
}
