package sandbox

// Controller is one controller: a set of transitions on a State.
type Controller interface {
	// Name is Kubernetes' name of it, such as "persistentvolume-binder".
	Name() string
	// Enabled lists what it could do now, in a fixed order. Nothing is
	// enabled in a State with which it is content.
	Enabled(s *State) []Transition
}

// Transition is one write, or one group of writes that happen together, of a
// controller: what it does between two moments at which others may act.
type Transition struct {
	Controller string
	// Act says what in a few words, Key to which object. Together they name
	// the transition within a State.
	Act string
	Key Key
	// Fire carries it out on the State it was enabled in.
	Fire func(*State) *State
}
