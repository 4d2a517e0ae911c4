// Package migration plans the operations that put another claim in the place
// of a volume's claim: the migration from ReadWriteOnce to ReadWriteOncePod,
// the move of a claim to another name or namespace, and the re-creation of a
// claim that is missing. All of them are the same few steps.
//
// A Journal is all that is needed to finish an operation or to take it back:
// the originals of everything that is replaced, and what takes their place. It
// never changes once the first step is written. How far the operation has come
// is not recorded but seen: Outline compares the Journal with a Scene, a fresh
// look at the cluster, and finds which steps have taken effect. So any machine
// can go on at any time, after whatever happened in between, and no record can
// be wrong.
//
// Two operations that have to do with one workload never go on side by side.
// There is no lock for that: each writes its note first and then looks for the
// notes of others (rivals.go, gate.go).
//
// To undo is the same walk towards the other end: what was the claim to come
// is the one to go.
//
// Everything here is pure: no client, no clock, no state. Package kube takes
// scenes and carries steps out; package views shows them. It imports actions,
// kube/binding, k8s.io/api, apimachinery and component-helpers only.
package migration
