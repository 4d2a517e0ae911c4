package terminal

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// errUnknownKey means that a key has a name that encodeKey does not know.
var errUnknownKey = errors.New("unknown key")

// keySequence gives what a terminal sends for a named key.
func keySequence(name string) (string, bool) {
	switch name {
	case "enter":
		return "\r", true
	case "esc":
		return "\x1b", true
	case "tab":
		return "\t", true
	case "shift+tab":
		return "\x1b[Z", true
	case "space":
		return " ", true
	case "backspace":
		return "\x7f", true
	case "delete":
		return "\x1b[3~", true
	case "insert":
		return "\x1b[2~", true
	case "up":
		return "\x1b[A", true
	case "down":
		return "\x1b[B", true
	case "right":
		return "\x1b[C", true
	case "left":
		return "\x1b[D", true
	case "home":
		return "\x1b[H", true
	case "end":
		return "\x1b[F", true
	case "pgup":
		return "\x1b[5~", true
	case "pgdown":
		return "\x1b[6~", true
	case "f1":
		return "\x1bOP", true
	case "f2":
		return "\x1bOQ", true
	case "f3":
		return "\x1bOR", true
	case "f4":
		return "\x1bOS", true
	case "f5":
		return "\x1b[15~", true
	default:
		return "", false
	}
}

// encodeKey turns the name of a key into what a terminal sends for it: a name
// of keySequence, a character, or one of these after "ctrl+" or "alt+".
func encodeKey(name string) (string, error) {
	if sequence, ok := keySequence(name); ok {
		return sequence, nil
	}
	if utf8.RuneCountInString(name) == 1 {
		return name, nil
	}
	if rest, ok := strings.CutPrefix(name, "alt+"); ok {
		sequence, err := encodeKey(rest)
		return "\x1b" + sequence, err
	}
	if rest, ok := strings.CutPrefix(name, "ctrl+"); ok && len(rest) == 1 {
		if c := rest[0]; c >= 'a' && c <= 'z' || c >= '[' && c <= '_' {
			// Control characters are the letters without their upper bits.
			return string(rune(c & 0x1f)), nil
		}
	}
	if name == "ctrl+space" {
		return "\x00", nil
	}
	return "", fmt.Errorf("%w: %q", errUnknownKey, name)
}
