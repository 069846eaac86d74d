package compare_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/annals-kb/annals/domain/text/compare"
)

// pair is a line of testdata/pairs.ndjson. The thresholds, rules and words were chosen on the set "dev".
type pair struct {
	Set   string       `json:"set"`
	About string       `json:"about"` // how the texts differ
	Kind  compare.Kind `json:"kind"`
	TaskA string       `json:"task_a"`
	TaskB string       `json:"task_b"`
	A     string       `json:"a"`
	B     string       `json:"b"`
}

// verdict compares the texts as items.
func (p pair) verdict() compare.Verdict {
	return compare.Items(compare.Item{Task: p.TaskA, Content: p.A}, compare.Item{Task: p.TaskB, Content: p.B})
}

func labelled(t *testing.T) (pairs []pair) {
	t.Helper()
	data, err := os.ReadFile("testdata/pairs.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var p pair
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatal(err)
		}
		pairs = append(pairs, p)
	}
	return pairs
}

func TestTheOrderOfAPairDoesNotMatter(t *testing.T) {
	for _, p := range labelled(t) {
		a := compare.Prepare(compare.Item{Task: p.TaskA, Content: p.A})
		b := compare.Prepare(compare.Item{Task: p.TaskB, Content: p.B})
		if got, back := a.With(b), b.With(a); got.Kind != back.Kind || got.Rule != back.Rule || got.Another != back.Another {
			t.Errorf("%q and %q: %+v, the other way round %+v", p.A, p.B, got, back)
		}
	}
}

func TestTheLabelledPairsAreJudgedAsWellAsPromised(t *testing.T) {
	type tally struct{ right, found, labelled int }
	figures := map[[3]string]*tally{}
	of := func(set, about string, kind compare.Kind) *tally {
		key := [3]string{set, about, string(kind)}
		if figures[key] == nil {
			figures[key] = &tally{}
		}
		return figures[key]
	}
	for _, p := range labelled(t) {
		got := p.verdict()
		for _, about := range []string{"", cmp.Or(p.About, "any")} {
			of(p.Set, about, p.Kind).labelled++
			of(p.Set, about, got.Kind).found++
			if got.Kind == p.Kind {
				of(p.Set, about, p.Kind).right++
			}
		}
		if got.Kind != p.Kind && p.Set == "dev" {
			t.Logf("%s, labelled %s, by %q (%.2f): %q and %q", got.Kind, p.Kind, got.Rule, got.Score, p.A, p.B)
		}
	}
	byName := func(a, b [3]string) int { return slices.Compare(a[:], b[:]) }
	for _, key := range slices.SortedFunc(maps.Keys(figures), byName) {
		f := figures[key]
		precision, recall := float64(f.right)/float64(max(f.found, 1)), float64(f.right)/float64(max(f.labelled, 1))
		t.Logf("%-4s %-12s %-13s: %d labelled, %d found, %d right: precision %.2f, recall %.2f",
			key[0], key[1], key[2], f.labelled, f.found, f.right, precision, recall)
		goal := map[string]float64{"duplicate": 0.95, "contradiction": 0.9}[key[2]]
		if key[1] == "" && goal > 0 && (precision < goal || recall < 0.7) {
			t.Errorf("the goal is a precision of %.2f and a recall of 0.70", goal)
		}
	}
}
