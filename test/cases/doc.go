// Package cases plays the stories of kube/cases on a real control plane: what
// is said of trouble there is what is said of it in the sandbox.
//
// CLAIMREF_SEED tells them in other names, sizes and orders, and
// CLAIMREF_E2E=full several times.
package cases
