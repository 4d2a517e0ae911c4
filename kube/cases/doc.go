// Package cases holds stories of trouble with volumes, and what is to be said
// of it: the explanation, the risks, what is on offer, and the checks of the
// operations. It is for tests alone; nothing of the program imports it.
//
// A story is a YAML file under testdata: objects as one would apply them, acts
// that happen to them, and between those what is expected by then. It is told
// in names of its own, and is true in others, too: Vary tells it anew with
// other names and sizes and in another order, and what is expected follows.
//
// The same stories are played in the sandbox and on a real control plane. What
// differs between the two is a World's to know.
package cases
