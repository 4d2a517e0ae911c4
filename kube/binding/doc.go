// Package binding answers questions about the PersistentVolume controller's
// rules: which phase an object is really in, whether a claim would bind to a
// volume and why not, and who would take a volume if it were opened.
//
// It is pure: objects in, answers out; no clock, no client, no cache. Where
// the controller's own code can be imported (component-helpers
// storage/volume) it is called, not retold; what is added here (reasons, and
// the controller's order) is tested against it.
//
// It imports k8s.io/api, apimachinery and component-helpers only.
package binding
