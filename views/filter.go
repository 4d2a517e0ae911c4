package views

import (
	"slices"
	"strings"
)

// query is a parsed filter. All of its terms must match.
type query struct {
	text  string
	terms []term
}

// term is one word of a filter: key:value, or a bare text. A leading
// exclamation mark turns it around.
type term struct {
	key   string
	value string
	not   bool
	// test is passes, made once for all rows.
	test func(string) bool
}

// termKeys are the keys that a filter knows. Anything else before a colon is
// text: names of volumes may well contain colons in their handles.
func termKeys() []string {
	return []string{"phase", "class", "ns", "policy", "mode", "driver", riskKey}
}

// parseQuery reads a filter as it is typed. It accepts every text: a filter
// that is half typed must not flicker into an error.
func parseQuery(text string) query {
	q := query{text: text}
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		t := term{}
		word, t.not = strings.CutPrefix(word, "!")
		if key, value, found := strings.Cut(word, ":"); found && slices.Contains(termKeys(), key) {
			t.key, t.value = key, value
		} else {
			t.value = word
		}
		// "risk:" alone asks for any risk.
		if t.value != "" || t.key == riskKey {
			t.test = t.passes
			q.terms = append(q.terms, t)
		}
	}
	return q
}

// empty says that everything matches.
func (q query) empty() bool { return len(q.terms) == 0 }

// asks says that some term has a key.
func (q query) asks(key string) bool {
	return slices.ContainsFunc(q.terms, func(t term) bool { return t.key == key })
}

// has says whether one of a record's values for a key passes a test. The key
// "" stands for all the texts that a bare word is looked for in.
type has func(key string, test func(value string) bool) bool

// matches says whether a record passes.
func (q query) matches(h has) bool {
	for i := range q.terms {
		if t := &q.terms[i]; h(t.key, t.test) == t.not {
			return false
		}
	}
	return true
}

// passes says whether a value is what the term asks for. In quotes it is
// meant whole, so that two quotes ask for the empty value; a mode is always
// meant whole, since RWO is the beginning of RWOP; a driver matches anywhere,
// as its telling part is rarely its beginning.
func (t term) passes(v string) bool {
	whole := len(t.value) >= 2 && strings.HasPrefix(t.value, `"`) && strings.HasSuffix(t.value, `"`)
	switch {
	case t.key != "" && whole:
		return strings.EqualFold(v, t.value[1:len(t.value)-1])
	case t.key == "" || t.key == "driver":
		return containsFold(v, t.value)
	case t.key == "mode":
		return strings.EqualFold(v, t.value)
	default:
		return len(v) >= len(t.value) && strings.EqualFold(v[:len(t.value)], t.value)
	}
}

// containsFold says whether s contains the lower-case text, case ignored for
// ASCII, without allocating: it runs over every row at every keystroke.
func containsFold(s, lower string) bool {
	if len(lower) == 0 {
		return true
	}
	first := lower[0]
	// The two cases of a letter differ in one bit; all else is itself.
	fold := byte(0)
	if 'a' <= first && first <= 'z' {
		fold = 'a' - 'A'
	}
	for i := 0; i+len(lower) <= len(s); i++ {
		if s[i]|fold == first && equalFoldASCII(s[i:i+len(lower)], lower) {
			return true
		}
	}
	return false
}

func equalFoldASCII(s, lower string) bool {
	for i := range len(s) {
		if lowerASCII(s[i]) != lower[i] {
			return false
		}
	}
	return true
}

func lowerASCII(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}
