package rebuild

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/annals-kb/annals/database"
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

// tenantSums compare the checksums of a tenant, as differences: 0 if both sides are equal.
type tenantSums struct {
	wrong      checksums // of what the log gives and the version has
	differs    checksums // of what the version and the active one show; nil to compare with the log alone
	unintended checksums // likewise, of what the change means to keep; nil if that is everything
	total      atomic.Uint64
}

// side is where a row or a term comes from.
type side int

const (
	ofLog side = iota
	ofVersion
	ofActive
)

func (e *verification) newSums(head int64) *tenantSums {
	s := &tenantSums{wrong: make(checksums, head+1)}
	if e.old != nil {
		s.differs = make(checksums, head+1)
		if len(e.ignored) > 0 {
			s.unintended = make(checksums, head+1)
		}
	}
	return s
}

// add adds the hash of a row or term, that of what a reader sees of it, and that of what the change means to keep. Of
// the log, only the first counts.
func (s *tenantSums) add(from side, number int64, all, seen, kept uint64) {
	switch from {
	case ofLog:
		s.wrong.add(number, all)
	case ofVersion:
		s.total.Add(all)
		s.wrong.add(number, -all)
		s.differs.add(number, seen)
		s.unintended.add(number, kept)
	case ofActive:
		s.differs.add(number, -seen)
		s.unintended.add(number, -kept)
	}
}

// hidden are columns that no answer shows: a baseline has the voters that some policies count.
var hidden = []string{"baseline"}

// addImage adds the rows of an image. Those of items that it lacks have the numbers of another image.
func (e *verification) addImage(s *tenantSums, from side, i, other *image) {
	numbers := map[string]int64{}
	for _, row := range slices.Concat(other.knowledge, i.knowledge) {
		numbers[row[1].(string)] = row[2].(int64)
	}
	for _, table := range i.tables() {
		for _, row := range table.rows {
			all := hashOf(table, row, nil)
			seen, kept := all, all
			if s.unintended != nil && from != ofLog {
				seen, kept = hashOf(table, row, hidden), 0
				if !slices.Contains(e.ignored, table.name) {
					kept = hashOf(table, row, e.ignored)
				}
			}
			s.add(from, numbers[row[1].(string)], all, seen, kept)
		}
	}
}

// addTerms returns a function that adds a term of an item by its hash, or a set by its key.
func (e *verification) addTerms(s *tenantSums, from side) func(term uint64, number int64, count, words int) {
	ignored := slices.Contains(e.ignored, "terms")
	return func(term uint64, number int64, count, words int) {
		hash := termHash(term, number, count, words)
		kept := hash
		if ignored {
			kept = 0
		}
		s.add(from, number, hash, hash, kept)
	}
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
