// Package differential proves that kube/sandbox behaves as Kubernetes does:
// the same histories are played in the sandbox and on a real control plane,
// and after each act the outcome of the request and the settled state are
// compared field by field. Where the two differ, the real one is right.
//
// A history is a list of acts on objects with symbolic names. "$" in any text
// stands for the history's own name, which is also the name of its namespace
// and the beginning of the names of its volumes and classes: so all histories
// have one control plane and do not meet. Uids are compared by what they are
// the uid of.
//
// Some acts also say what has to come of them, from the rules of the volume
// controllers; both worlds are held to that.
package differential
