// Package e2e tests the built program as its users meet it: in a terminal, on
// a real control plane. Keys are typed, the screen is read, and afterwards the
// cluster is asked what really happened.
package e2e
