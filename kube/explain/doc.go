// Package explain says what is going on with a volume, a claim or a class,
// what would happen to it, and what is at risk.
//
// It has four answers, all of them data without a drawing: an Explanation of
// one object, the Risks of all of them, the Tree of what an object has to do
// with, and the Timeline of what happened to it. They come from an immutable
// kube.Snapshot and from what is passed in: times, events, a full object. So
// the same question has the same answer, wherever it is asked.
//
// What the snapshot does not know is said to be unknown. It is never taken for
// absent: see kube.Snapshot.Known.
//
// It has no client and no clock. It imports kube, kube/binding, actions and
// k8s.io/api, apimachinery and component-helpers only.
package explain
