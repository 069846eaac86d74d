package rebuild

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/projections/words"
)

// checksums has a checksum of each item of a tenant, by its number: the sum of the hashes of its rows, terms and sets,
// which does not depend on their order. There may be hundreds of millions of terms, and no index by item. What belongs
// to no item shares the number 0. Nil ignores what is added.
type checksums []atomic.Uint64

func (s checksums) add(number int64, hash uint64) {
	if s == nil {
		return
	}
	if number < 0 || number >= int64(len(s)) {
		number = 0
	}
	s[number].Add(hash)
}

// addEntry adds the terms and the sets of an item.
func (s checksums) addEntry(number int64, of words.Entry) {
	of.EachKey(func(key uint64) { s.add(number, termHash(key, number, 0, 0)) })
	of.Each(func(hash uint64, count int) { s.add(number, termHash(hash, number, count, of.Words)) })
}

// termHash hashes a term of an item by its hash, or a set by its key.
func termHash(term uint64, number int64, count, words int) uint64 {
	h := term
	for _, x := range [...]uint64{uint64(number), uint64(count), uint64(words)} {
		// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
		h += x + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}

// A sum is the checksums of a version, or of what the log gives: of everything, of what a reader sees of it, and of
// what a change means to keep. The latter are nil if it means to keep everything.
type sum struct{ all, seen, kept checksums }

// tenantSums are the checksums of a tenant: what the log gives, what the version has, and what the active one has.
type tenantSums struct{ want, have, was sum }

func (e *verification) newSums(head int64) (s tenantSums) {
	made := func() checksums { return make(checksums, head+1) }
	s.want.all, s.have.all = made(), made()
	if e.old != nil {
		s.was.all = made()
		if len(e.ignored) > 0 {
			s.have.seen, s.have.kept, s.was.seen, s.was.kept = made(), made(), made(), made()
		}
	}
	return s
}

// addImage adds the rows of an image. Those of items that it lacks have the numbers of another image.
func (e *verification) addImage(s sum, i, other *image) {
	numbers := map[string]int64{}
	for _, row := range slices.Concat(other.knowledge, i.knowledge) {
		numbers[row[1].(string)] = row[2].(int64)
	}
	for _, table := range i.tables() {
		for _, row := range table.rows {
			number := numbers[row[1].(string)]
			s.all.add(number, hashOf(table, row, nil))
			if s.kept == nil {
				continue
			}
			s.seen.add(number, hashOf(table, row, hidden))
			if !slices.Contains(e.ignored, table.name) {
				s.kept.add(number, hashOf(table, row, e.ignored))
			}
		}
	}
}

// hidden are columns that no answer shows: a baseline has the voters that some policies count.
var hidden = []string{"baseline"}

// differs compares an item with that of the active version, and tells whether it differs in what the change means to
// keep.
func (s tenantSums) differs(number int) (differs, unintended bool) {
	if s.have.kept == nil {
		differs = s.have.all[number].Load() != s.was.all[number].Load()
		return differs, differs
	}
	unintended = s.have.kept[number].Load() != s.was.kept[number].Load()
	return unintended || s.have.seen[number].Load() != s.was.seen[number].Load(), unintended
}

// hashOf hashes a row without some of its columns, so that equal rows of different origin have equal hashes.
func hashOf(t imageTable, row []any, without []string) uint64 {
	var line strings.Builder
	line.WriteString(t.name)
	for i, value := range row {
		line.WriteByte(0x1f)
		if slices.Contains(without, t.columns[i]) {
			continue
		}
		switch v := value.(type) {
		case string:
			line.WriteString(v)
		case *string:
			if v == nil {
				line.WriteString("\x00")
			} else {
				line.WriteString(*v)
			}
		case database.Time:
			if !v.IsZero() {
				line.WriteString(v.String())
			}
		default:
			fmt.Fprint(&line, v)
		}
	}
	hash := sha256.Sum256([]byte(line.String()))
	return binary.BigEndian.Uint64(hash[:])
}
