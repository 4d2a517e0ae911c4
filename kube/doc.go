// Package kube is the only package that talks to an API server. It connects,
// watches, joins what it sees into immutable snapshots, previews a step by a
// server-side dry run, carries it out with the preconditions that the preview
// was made from, and reads events, manifests and access rights.
//
// It carries whole operations out, too: it looks at all that one is about, asks
// the planner what comes next, and keeps the backup and the history of it.
//
// It may import actions and actions/migration for plans, steps and the rule for
// what put an object there, and kube/binding for the controller's rules. It
// knows nothing of screens.
package kube
