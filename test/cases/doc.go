// Package cases plays the stories of kube/cases on a real control plane: what
// is said of trouble there is what is said of it in the sandbox.
package cases
