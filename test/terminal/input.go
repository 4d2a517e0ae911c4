package terminal

import (
	"fmt"
	"syscall"

	"github.com/creack/pty"
)

// Type types a text.
func (term *Terminal) Type(text string) {
	term.t.Helper()
	if _, err := term.pty.WriteString(text); err != nil {
		term.fatalf("type %q: %v", text, err)
	}
}

// Press presses keys one after the other: characters, or names such as
// "enter", "esc", "down", "pgup", "shift+tab", "ctrl+c" and "alt+x".
//
// Keys are written as fast as the terminal takes them. A program tells esc from
// the start of a sequence by a pause, so wait for its effect before going on.
func (term *Terminal) Press(keys ...string) {
	term.t.Helper()
	for _, key := range keys {
		sequence, err := encodeKey(key)
		if err != nil {
			term.t.Fatal(err)
		}
		term.Type(sequence)
	}
}

// Resize changes the size of the terminal and tells the program.
func (term *Terminal) Resize(w, h int) {
	term.t.Helper()
	// The emulator is first: what the program draws for the new size must meet
	// a screen of that size.
	term.screen.resize(w, h)
	if err := pty.Setsize(term.pty, &pty.Winsize{Cols: uint16(w), Rows: uint16(h)}); err != nil {
		term.fatalf("resize to %dx%d: %v", w, h, err)
	}
}

// Signal sends a signal to the program alone, not to what it has started.
func (term *Terminal) Signal(sig syscall.Signal) {
	term.t.Helper()
	select {
	case <-term.exited:
		term.fatalf("send signal %s: the program has ended", sig)
	default:
	}
	if err := syscall.Kill(term.pid, sig); err != nil {
		term.fatalf("send signal %s: %v", sig, err)
	}
}

// Paste pastes a text as a terminal does for programs that ask for bracketed
// pastes.
func (term *Terminal) Paste(text string) {
	term.t.Helper()
	term.Type("\x1b[200~" + text + "\x1b[201~")
}

// Click presses and releases the left mouse button on a cell, counted from 0.
func (term *Terminal) Click(x, y int) {
	term.t.Helper()
	term.Type(fmt.Sprintf("\x1b[<0;%[1]d;%[2]dM\x1b[<0;%[1]d;%[2]dm", x+1, y+1))
}

// Scroll turns the mouse wheel on a cell: up for negative, down for positive
// lines.
func (term *Terminal) Scroll(x, y, lines int) {
	term.t.Helper()
	button := 65
	if lines < 0 {
		button, lines = 64, -lines
	}
	for range lines {
		term.Type(fmt.Sprintf("\x1b[<%d;%d;%dM", button, x+1, y+1))
	}
}
