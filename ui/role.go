package ui

// Role is what a text means; the theme decides how that looks.
type Role int

// The roles, from plain to loud.
const (
	Plain   Role = iota
	Dim          // secondary text
	Strong       // what the eye should find first
	Accent       // the product's own colour: selection bar, active tab
	Key          // a key on the key line
	Good         // healthy
	Calm         // fine and idle
	Notice       // wants a look
	Warn         // wants a decision
	Bad          // wants a person now
	Added        // a line that a diff adds
	Removed      // a line that a diff removes
	Match        // a search hit
)
