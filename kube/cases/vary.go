package cases

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Vary tells a story with other names, sizes and, where it does not matter,
// in another order. Equal seeds tell the same; seeds that differ share no name.
func (s *Story) Vary(seed uint64) (*Story, error) {
	r := rand.New(rand.NewPCG(seed, uint64(len(s.text)))) //nolint:gosec // names need not be hard to guess
	text, others := string(s.text), make([]string, len(s.Head.Names))
	for i, name := range s.Head.Names {
		others[i] = otherName(r, seed, i)
		text = replaceWord(text, name, others[i])
	}
	factor := [...]int{1, 3, 5, 7}[r.IntN(4)]
	text = scaleSizes(text, factor)
	varied, err := parse(s.Name, []byte(text))
	if err != nil {
		return nil, fmt.Errorf("vary with seed %d: %w", seed, err)
	}
	varied.Head.Names = others
	if !s.Head.Ordered {
		varied.shuffle(r)
	}
	return varied, nil
}

// otherName makes up a name that a namespace, too, may have. The seed and the
// place in the story make it the only one of its kind.
func otherName(r *rand.Rand, seed uint64, i int) string {
	const letters = "bcdfghjklmnpqrstvwxz"
	var b strings.Builder
	b.WriteByte(letters[r.IntN(len(letters))])
	for range r.IntN(14) {
		b.WriteByte(letters[r.IntN(len(letters))])
	}
	b.WriteString(strconv.FormatUint(seed, 36))
	b.WriteByte('x')
	b.WriteString(strconv.Itoa(i))
	return b.String()
}

// word is what a name is made of. Hyphens join names to longer ones.
func words(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
}

func replaceWord(text, word, other string) string {
	var b strings.Builder
	for {
		at := strings.Index(text, word)
		if at < 0 {
			b.WriteString(text)
			return b.String()
		}
		end := at + len(word)
		whole := (at == 0 || !isWord(text[at-1])) && (end == len(text) || !isWord(text[end]))
		b.WriteString(text[:at])
		if whole {
			b.WriteString(other)
		} else {
			b.WriteString(word)
		}
		text = text[end:]
		if !whole {
			continue
		}
	}
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// scaleSizes makes all sizes larger by the same factor, an odd one: a size
// stays in its unit.
func scaleSizes(text string, factor int) string {
	return regexp.MustCompile(`\b(\d+)Gi\b`).ReplaceAllStringFunc(text, func(size string) string {
		n, err := strconv.Atoi(strings.TrimSuffix(size, "Gi"))
		if err != nil {
			return size
		}
		return strconv.Itoa(n*factor) + "Gi"
	})
}

// shuffle brings the objects before the first act or expectation into another
// order, each rank by itself. What others are put into, or are read by when they
// come, stays first; and claims come after the volumes, since a claim that is
// early takes another volume than the one that is meant for it.
func (s *Story) shuffle(r *rand.Rand) {
	end := slices.IndexFunc(s.Parts, func(p Part) bool { return p.Object == nil })
	if end < 0 {
		end = len(s.Parts)
	}
	first := s.Parts[:end]
	slices.SortStableFunc(first, func(a, b Part) int { return cmp.Compare(rank(a), rank(b)) })
	for at := 0; at < len(first); {
		same := first[at:]
		if other := slices.IndexFunc(same, func(p Part) bool { return rank(p) != rank(same[0]) }); other >= 0 {
			same = same[:other]
		}
		if rank(same[0]) != rankGround {
			r.Shuffle(len(same), func(i, j int) { same[i], same[j] = same[j], same[i] })
		}
		at += len(same)
	}
}

const (
	rankGround = iota
	rankVolume
	rankOther
)

func rank(p Part) int {
	switch p.Object.GetKind() {
	case "Namespace", "StorageClass", "Node":
		return rankGround
	case kindVolume:
		return rankVolume
	default:
		return rankOther
	}
}
