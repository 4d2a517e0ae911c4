package views

// gaze keeps what a person has looked at. A difference that is on the screen to
// its end as a second passes, and was there all the time since the last one
// did, has been looked at; a key that is held down flashes through differences
// and does not get there.
//
// Differences of one kind need be looked at once: what a kind is, the page that
// shows them decides.
type gaze struct {
	seen map[string]bool
	// at is what was on the screen when the last second passed; empty for
	// nothing, and once the eyes have moved on.
	at string
}

// glance takes in what is on the screen as a second passes, and which kinds it
// stands for.
func (g *gaze) glance(what string, kinds ...string) {
	if g.at == what {
		for _, kind := range kinds {
			if g.seen == nil {
				g.seen = make(map[string]bool)
			}
			g.seen[kind] = true
		}
	}
	g.at = what
}

// moved says that the eyes have moved on, or what they see has changed: the
// second begins anew.
func (g *gaze) moved() { g.at = "" }

// saw says that a difference of a kind has been looked at.
func (g *gaze) saw(kind string) bool { return g.seen[kind] }

// forget begins anew.
func (g *gaze) forget() { g.seen, g.at = nil, "" }
