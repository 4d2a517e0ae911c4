package e2e

import "testing"

// step logs a screen, so that the run can be read as a story.
func step(t *testing.T, what, screen string) {
	t.Helper()
	t.Logf("--- %s\n%s", what, screen)
}
