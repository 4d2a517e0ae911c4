// Package actions plans the guided operations: objects in, a Plan out.
//
// A Plan is data. It can be shown, printed as kubectl commands, compared with
// a golden file, journalled, resumed and undone, because nothing in it is
// code: steps are JSON merge patches with the state that must hold before and
// the state that must come after.
//
// Nothing here talks to an API server, reads a clock or keeps state. Package
// kube carries steps out; package views shows them. It imports k8s.io/api,
// apimachinery, component-helpers and kube/binding only.
package actions
