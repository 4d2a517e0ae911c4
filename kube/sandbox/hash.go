package sandbox

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// uidMark is the middle of every uid that NextUID makes, by which it is known
// inside other strings, such as the name of a provisioned volume.
const uidMark = "4c1a-9ef0"

// fingerprint is what a Hash needs of one object: what it says apart from
// versions, times and uids, and which uids it names, in order.
type fingerprint struct {
	sum  [sha256.Size]byte
	uids []types.UID
	// name is the object's name without the uids in it, and named says that
	// there were some.
	name  string
	named bool
}

// Hash is equal for States that differ only in resourceVersions, in times and
// in which uid is which, and otherwise different. The two are told apart from
// all other data by their types, and uids that NextUID made also inside strings.
//
// That uids may be renamed is settled by giving every uid a number, in an order
// that does not depend on them. Only where several objects are alike but for
// the uids in their names, and only something else tells them apart, may two
// States that are equal by renaming get different hashes; the other way round
// never.
func (s *State) Hash() string {
	type row struct {
		resource Resource
		record   *record
	}
	var rows []row
	for _, r := range slices.Sorted(maps.Keys(s.shelves)) {
		for _, record := range s.inUIDlessOrder(r) {
			rows = append(rows, row{r, record})
		}
	}
	numbers := make(map[types.UID]uint64, len(rows))
	number := func(uid types.UID) uint64 {
		n, ok := numbers[uid]
		if !ok {
			n = uint64(len(numbers))
			numbers[uid] = n
		}
		return n
	}
	for _, row := range rows {
		number(row.record.object.GetUID())
	}
	sum := sha256.New()
	var buffer []byte
	for _, row := range rows {
		print := row.record.fingerprint()
		buffer = append(buffer[:0], row.resource...)
		buffer = append(buffer, 0)
		buffer = append(buffer, print.sum[:]...)
		buffer = binary.AppendUvarint(buffer, uint64(len(print.uids)))
		for _, uid := range print.uids {
			buffer = binary.AppendUvarint(buffer, number(uid))
		}
		// Hash.Write never returns an error.
		_, _ = sum.Write(buffer)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// inUIDlessOrder is a shelf in an order that is the same whatever the uids are:
// its own, unless names have uids in them.
func (s *State) inUIDlessOrder(r Resource) shelf {
	stored := s.shelves[r]
	if !slices.ContainsFunc(stored, func(r *record) bool { return r.fingerprint().named }) {
		return stored
	}
	sorted := slices.Clone(stored)
	slices.SortStableFunc(sorted, func(a, b *record) int {
		x, y := a.fingerprint(), b.fingerprint()
		return cmp.Or(
			cmp.Compare(a.object.GetNamespace(), b.object.GetNamespace()),
			cmp.Compare(x.name, y.name),
			slices.Compare(x.sum[:], y.sum[:]),
			slices.CompareFunc(x.uids, y.uids, s.compareOwners),
		)
	})
	return sorted
}

// compareOwners compares uids by the names of what they are of, as far as those
// have no uid in them.
func (s *State) compareOwners(a, b types.UID) int {
	return cmp.Compare(s.ownerName(a), s.ownerName(b))
}

func (s *State) ownerName(uid types.UID) string {
	k, ok := s.owners.of(s)[uid]
	if !ok {
		return ""
	}
	name := k.Name
	if strings.Contains(name, uidMark) {
		name = ""
	}
	return string(k.Resource) + "/" + k.Namespace + "/" + name
}

func (r *record) fingerprint() *fingerprint {
	r.once.Do(func() {
		w := walker{sum: sha256.New()}
		w.value(reflect.ValueOf(r.object).Elem())
		w.flush()
		w.sum.Sum(r.print.sum[:0])
		r.print.uids = w.uids
		r.print.name = r.object.GetName()
		for from, to := issuedUID(r.print.name); to > 0; from, to = issuedUID(r.print.name) {
			r.print.name = r.print.name[:from] + r.print.name[to:]
			r.print.named = true
		}
	})
	return &r.print
}

// issuedUID is where the first uid in a string is that NextUID made; the end is
// 0 if there is none.
func issuedUID(s string) (from, to int) {
	const head, length = len("00000000-0000-"), len("00000000-0000-" + uidMark + "-000000000000")
	for searched := 0; ; {
		i := strings.Index(s[searched:], uidMark)
		if i < 0 {
			return 0, 0
		}
		from = searched + i - head
		if from >= 0 && from+length <= len(s) && issueOf(types.UID(s[from:from+length])) > 0 {
			return from, from + length
		}
		searched += i + len(uidMark)
	}
}

// walker writes an object to a hash, in such a way that no two objects of one
// type write the same, and keeps its uids apart.
type walker struct {
	sum    hash.Hash
	buffer []byte
	uids   []types.UID
}

func (w *walker) flush() {
	// Hash.Write never returns an error.
	_, _ = w.sum.Write(w.buffer)
	w.buffer = w.buffer[:0]
}

func (w *walker) uid(uid types.UID) {
	if uid == "" {
		w.buffer = append(w.buffer, 'n')
		return
	}
	w.buffer = append(w.buffer, 'u')
	w.uids = append(w.uids, uid)
}

func (w *walker) text(s string) {
	if strings.Contains(s, uidMark) {
		for from, to := issuedUID(s); to > 0; from, to = issuedUID(s) {
			w.plain(s[:from])
			w.uid(types.UID(s[from:to]))
			s = s[to:]
		}
	}
	w.plain(s)
	w.buffer = append(w.buffer, '.')
}

func (w *walker) plain(s string) {
	w.buffer = binary.AppendUvarint(append(w.buffer, 's'), uint64(len(s)))
	w.buffer = append(w.buffer, s...)
}

func (w *walker) value(v reflect.Value) {
	switch x := v.Interface().(type) {
	case types.UID:
		w.uid(x)
		return
	case metav1.Time:
		w.set(!x.IsZero())
		return
	case metav1.MicroTime:
		w.set(!x.IsZero())
		return
	case time.Time:
		w.set(!x.IsZero())
		return
	case resource.Quantity:
		w.plain(x.String())
		return
	}
	switch v.Kind() {
	case reflect.String:
		w.text(v.String())
	case reflect.Bool:
		w.set(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		w.buffer = binary.AppendVarint(w.buffer, v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		w.buffer = binary.AppendUvarint(w.buffer, v.Uint())
	case reflect.Pointer, reflect.Interface:
		w.set(!v.IsNil())
		if !v.IsNil() {
			w.value(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		w.buffer = binary.AppendUvarint(w.buffer, uint64(v.Len()))
		for i := range v.Len() {
			w.value(v.Index(i))
		}
	case reflect.Map:
		w.entries(v)
	case reflect.Struct:
		w.fields(v)
	default:
		// The API has no other kinds of fields.
	}
}

func (w *walker) set(b bool) {
	if b {
		w.buffer = append(w.buffer, 1)
		return
	}
	w.buffer = append(w.buffer, 0)
}

// entries writes a map in the order of its keys. Keys that differ in uids only
// are not met with.
func (w *walker) entries(v reflect.Value) {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
	w.buffer = binary.AppendUvarint(w.buffer, uint64(len(keys)))
	for _, key := range keys {
		w.value(key)
		w.value(v.MapIndex(key))
	}
}

func (w *walker) fields(v reflect.Value) {
	t := v.Type()
	for i := range t.NumField() {
		switch f := t.Field(i); {
		case !f.IsExported(), f.Name == "ResourceVersion", f.Name == "ManagedFields":
			// Versions are not part of what a State says. Who set a field
			// is not modelled.
		default:
			w.value(v.Field(i))
		}
	}
}
