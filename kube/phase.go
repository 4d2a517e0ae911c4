package kube

import "github.com/claimref/claimref/kube/binding"

// Phase is binding's, under the name by which screens know it: they import
// kube, not what stands beneath it.
type Phase = binding.Phase

// State is binding's, for the same reason.
type State = binding.State

// The phases, in the order in which a summary lists them.
const (
	Bound       = binding.Bound
	Released    = binding.Released
	Reserved    = binding.Reserved
	Available   = binding.Available
	Pending     = binding.Pending
	Failed      = binding.Failed
	Lost        = binding.Lost
	Terminating = binding.Terminating
	Unknown     = binding.Unknown
)
