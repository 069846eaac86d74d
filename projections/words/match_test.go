package words

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBlocksHaveWhatTheirEditsSay(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, key := range []uint64{7, 1 << hashBits} {
		want, data := map[int]posting{}, []byte(nil)
		beside := func(at int, put bool) (edits []edit) { // terms of the same row
			for _, other := range []uint64{5, 9} {
				if key == 7 {
					edits = append(edits, edit{other, 0, uint16(at), put, 1, 1})
				}
			}
			return edits
		}
		for round := range 200 {
			edits := beside(round, true)
			done := map[int]bool{}
			for range random.IntN(30) {
				low := random.IntN(1<<blockBits) >> (8 * random.IntN(2))
				if done[low] {
					continue
				}
				done[low] = true
				was, there := want[low]
				if there || random.IntN(9) == 0 {
					edits = append(edits, edit{key: key, low: uint16(low), words: int32(was.words)})
					delete(want, low)
				}
				if random.IntN(4) > 0 {
					p := posting{low, 1 + random.IntN(3)*random.IntN(1<<15), random.IntN(1 << 20)}
					edits = append(edits, edit{key, 0, uint16(low), true, uint16(p.count), int32(p.words)})
					want[low] = p
				}
			}
			sortEdits(edits)
			if len(edits) == 0 {
				continue
			}
			var err error
			if data, err = edited(data, edits); err != nil {
				t.Fatal(err)
			}
		}
		var lows []int
		words := int64(0)
		err := eachOf(rowOf(key), data, &set{}, func(of uint64, p posting) {
			if of != key {
				return
			}
			lows = append(lows, p.low)
			words += int64(want[p.low].words)
			if key == 7 && p != want[p.low] {
				t.Fatalf("%d is %v, want %v", p.low, p, want[p.low])
			}
		})
		if err != nil || len(lows) != len(want) || !slices.IsSorted(lows) {
			t.Fatalf("%d items in order: %v, want %d (%v)", len(lows), slices.IsSorted(lows), len(want), err)
		}
		if s, err := readSet(data); key != 7 && (err != nil || s.words != words) {
			t.Errorf("the items have %d words, want %d (%v)", s.words, words, err)
		}
		var edits []edit
		for round := range 200 {
			edits = append(edits, beside(round, false)...)
		}
		for low, p := range want {
			edits = append(edits, edit{key: key, low: uint16(low), words: int32(p.words)})
		}
		sortEdits(edits)
		if rest, err := edited(data, edits); rest != nil || err != nil {
			t.Errorf("%d bytes are left of no items, %v", len(rest), err)
		}
	}
}

func TestEntriesAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	want := Entry{ItemTerms{300, PackTerms([]string{"a", "b", "a"})}, Sets("scope1..tier....")}
	got, err := decodeEntry(want.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, *got); diff != "" {
		t.Error(diff)
	}
	for _, broken := range []string{"\x80", "\x01", "\x01\x02", "\x01\x02too short"} {
		if _, err := decodeEntry([]byte(broken)); !errors.Is(err, errEntry) {
			t.Errorf("%q: %v, want an error", broken, err)
		}
	}
}
