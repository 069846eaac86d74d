package lexicon

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"
)

// written is what scripts/lexicon.mjs prints.
const written = "4deab3aaefe143ae98da82d4c832caf313545d358d2e6c9ca8f7f82d092f5dc5"

func TestTheTablesAreThoseOfTheScript(t *testing.T) {
	t.Parallel()
	if got := fmt.Sprintf("%x", sha256.Sum256([]byte(string(vectors)+words+index))); got != written {
		t.Errorf("the tables have the checksum %s, want %s: run scripts/lexicon.mjs", got, written)
	}
}

func TestWordsOfASimilarMeaningAreNear(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ word, near, far string }{
		{"charged", "billed", "banana"},
		{"退款", "refund", "banana"},
		{"发票", "invoice", "dog"},
		{"发票", "發票", "invoice"},
		{"manager's", "boss", "boat"},
	} {
		if near, far := cosine(t, c.word, c.near), cosine(t, c.word, c.far); near <= far {
			t.Errorf("%s: %s at %.3f, want it nearer than %s at %.3f", c.word, c.near, near, c.far, far)
		}
	}
}

func TestHanCutsTheLongestWords(t *testing.T) {
	t.Parallel()
	words := slices.Collect(Han("我们需要退款给客户，𠀀"))
	if got, want := fmt.Sprint(words), "[我们 需要 退款 给 客户]"; got != want {
		t.Errorf("cut into %s, want %s", got, want)
	}
}

func cosine(t *testing.T, a, b string) (sum float32) {
	var v [2][Dims]float32
	for i, s := range []string{a, b} {
		w, ok := Find(s)
		if !ok {
			t.Fatalf("%s is not in the vocabulary", s)
		}
		if weight := w.Weight(); weight <= 0.5 || weight > 1 {
			t.Errorf("%s has the weight %.2f, want that of a rare word", s, weight)
		}
		w.Vector(&v[i])
	}
	for i := range Dims {
		sum += v[0][i] * v[1][i]
	}
	return sum
}
