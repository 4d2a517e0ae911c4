// Package views holds the pages: volumes, claims, classes, the details of one
// object, and the screen that walks through a plan. It turns snapshots into
// rows and stories, and keys into plans.
//
// Rows, stories and filters are pure functions of a snapshot and a moment.
// Whatever takes time or touches the cluster is a command in cmds.go, and goes
// through the Cluster interface, so that a test can stand in for it.
//
// It imports ui, kube and actions; it never imports client-go.
package views
