package main

import (
	"cmp"
	"slices"
	"strings"
)

// mostSuggestions is how many names are worth a look.
const mostSuggestions = 3

// suggest ends a sentence about a name that does not exist with those that
// were perhaps meant; "" when none is near.
func suggest(wanted string, names []string) string {
	type near struct {
		name  string
		apart int
	}
	var found []near
	for _, name := range names {
		apart := distance(wanted, name)
		if apart <= max(2, len(wanted)/4) || len(wanted) > 2 && strings.Contains(name, wanted) {
			found = append(found, near{name, apart})
		}
	}
	if len(found) == 0 {
		return ""
	}
	slices.SortFunc(found, func(a, b near) int { return cmp.Or(a.apart-b.apart, strings.Compare(a.name, b.name)) })
	var list []string
	for _, n := range found[:min(len(found), mostSuggestions)] {
		list = append(list, n.name)
	}
	return "; did you mean " + strings.Join(list, " or ") + "?"
}

// distance is how many letters have to be put in, taken out or replaced to
// make one word of the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
