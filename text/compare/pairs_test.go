package compare_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/annals-kb/annals/embedding"
	"github.com/annals-kb/annals/text/compare"
)

// pair is a line of testdata/pairs.ndjson. The thresholds, rules and words were chosen on the set "dev".
type pair struct {
	Set   string       `json:"set"`
	Kind  compare.Kind `json:"kind"`
	TaskA string       `json:"task_a"`
	TaskB string       `json:"task_b"`
	A     string       `json:"a"`
	B     string       `json:"b"`
}

// verdict compares the texts as items that the built-in embedder has embedded.
func (p pair) verdict(t *testing.T) compare.Verdict {
	t.Helper()
	var embedder embedding.Builtin
	question, err := embedder.Embed(t.Context(), []string{p.TaskA + "\n" + p.A}, embedding.Query)
	if err != nil {
		t.Fatal(err)
	}
	document, err := embedder.Embed(t.Context(), []string{p.TaskB + "\n" + p.B}, embedding.Document)
	if err != nil {
		t.Fatal(err)
	}
	cosine := 0.0
	for i, x := range question[0] {
		cosine += float64(x) * float64(document[0][i])
	}
	a, b := compare.Item{Task: p.TaskA, Content: p.A}, compare.Item{Task: p.TaskB, Content: p.B}
	return compare.Items(a, b, embedder.Calibration().Score(cosine))
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
		for _, meaning := range []float64{compare.Unknown, 0, 0.5, 1} {
			got, back := a.With(b, meaning), b.With(a, meaning)
			if got.Kind != back.Kind || got.Rule != back.Rule {
				t.Errorf("%q and %q: %+v, the other way round %+v", p.A, p.B, got, back)
			}
		}
	}
}

func TestTheLabelledPairsAreJudgedAsWellAsPromised(t *testing.T) {
	type tally struct{ right, found, labelled int }
	figures := map[string]*tally{}
	of := func(set string, kind compare.Kind) *tally {
		key := set + " " + string(kind)
		if figures[key] == nil {
			figures[key] = &tally{}
		}
		return figures[key]
	}
	for _, p := range labelled(t) {
		got := p.verdict(t)
		of(p.Set, p.Kind).labelled++
		of(p.Set, got.Kind).found++
		if got.Kind == p.Kind {
			of(p.Set, p.Kind).right++
		} else if p.Set == "dev" {
			t.Logf("%s, labelled %s, by %q (%.2f): %q and %q", got.Kind, p.Kind, got.Rule, got.Score, p.A, p.B)
		}
	}
	for _, goal := range []struct {
		kind              compare.Kind
		precision, recall float64
	}{{compare.Duplicate, 0.9, 0.6}, {compare.Contradiction, 0.8, 0}} {
		for _, set := range []string{"dev", "test"} {
			f := of(set, goal.kind)
			precision := float64(f.right) / float64(f.found)
			recall := float64(f.right) / float64(f.labelled)
			t.Logf("%-4s %-13s: %d labelled, %d found, %d right: precision %.2f, recall %.2f",
				set, goal.kind, f.labelled, f.found, f.right, precision, recall)
			if set == "test" && (precision < goal.precision || recall < goal.recall) {
				t.Errorf("the goal is a precision of %.2f and a recall of %.2f", goal.precision, goal.recall)
			}
		}
	}
}
