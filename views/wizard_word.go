package views

import (
	"strings"

	"github.com/claimref/claimref/ui"
)

// typeWhat stands in the field while nothing is typed: never the word itself,
// which would look as if it were.
func (p *walkPage) typeWhat(word string) string {
	if word == confirmWord(p.journal) {
		return "type the claim's name"
	}
	return "type the name"
}

// wantWord compares what is typed with a word, and says what is wrong with it.
func wantWord(word string) func(string) string {
	return func(typed string) string {
		switch {
		case typed == word:
			return ""
		case typed == "":
			return "nothing typed yet: type " + word + " to go on, esc to go back"
		case strings.HasPrefix(word, typed):
			return "type " + word + " to go on, esc to go back"
		}
		return "that is " + typed + ", not " + word + "; esc goes back"
	}
}

// wholeWord shows a word that is too long for the title and the line of a
// prompt.
func wholeWord(word string) []ui.Span {
	const most = 32
	if ui.Width(word) <= most {
		return nil
	}
	return []ui.Span{{Text: "The word to type: "}, {Text: word, Role: ui.Strong}, {Text: "\n"}}
}
