package text_test

import (
	"math"
	"testing"

	"github.com/annals-kb/annals/domain/text"
)

func TestARareTermSaysMoreThanACommonOne(t *testing.T) {
	t.Parallel()
	for containing := 1; containing < 100; containing++ {
		if rare, common := text.IDF(100, containing), text.IDF(100, containing+1); rare <= common || common <= 0 {
			t.Errorf("a term in %d items says %v, in %d says %v", containing, rare, containing+1, common)
		}
	}
}

func TestAWordNobodyUsesCountsAsIfOneDid(t *testing.T) {
	t.Parallel()
	for _, items := range []int{0, 1, 2, 1000} {
		if got, want := text.IDF(items, 0), text.IDF(items, 1); got != want || got <= 0 {
			t.Errorf("among %d items it says %v, want %v", items, got, want)
		}
	}
}

func TestATermCountsOnceInAnAverageText(t *testing.T) {
	t.Parallel()
	if got := text.Saturation(1, 20, 20); math.Abs(got-1) > 1e-12 {
		t.Errorf("got %v, want 1", got)
	}
	if again, most := text.Saturation(100, 20, 20), 1+text.BM25K1; again < 1.8 || again > most {
		t.Errorf("a hundred times counts %v, want nearly %v", again, most)
	}
	if short, long := text.Saturation(1, 5, 20), text.Saturation(1, 100, 20); short <= 1 || long >= 1 {
		t.Errorf("in a short text %v, in a long one %v, want more and less than 1", short, long)
	}
	if manual := text.Saturation(1, 10_000, 20); manual < 0.5 {
		t.Errorf("in a manual among notes %v, want at least a half", manual)
	}
	if got := text.Saturation(1, 0, 0); math.IsNaN(got) || got <= 0 {
		t.Errorf("without an average %v, want a number", got)
	}
}

func TestATermAddsNoMoreToALongerText(t *testing.T) {
	t.Parallel()
	for _, average := range []float64{0, 1, 37.5, 2000} {
		for count := 1; count < 3000; count += 1 + count/2 {
			for length := 0; length < 5000; length += 1 + length/3 {
				here := text.Saturation(count, length, average)
				longer, more := text.Saturation(count, length+1, average), text.Saturation(count+1, length, average)
				if longer > here || more < here {
					t.Fatalf("%d times in %d words: %v, in one more %v, once more %v", count, length, here, longer, more)
				}
			}
		}
	}
}

func TestHalfTheQuestionIsAboutIt(t *testing.T) {
	t.Parallel()
	for _, attainable := range []float64{0.3, 1, 40} {
		if got := text.WordScore(attainable/2, attainable); math.Abs(got-0.5) > 1e-12 {
			t.Errorf("half of %v scores %v, want 0.5", attainable, got)
		}
		if got := text.WordScore(attainable*2, attainable); got <= 0.5 || got >= 1 {
			t.Errorf("twice %v scores %v, want less than 1", attainable, got)
		}
	}
	for _, nothing := range [][2]float64{{0, 1}, {0, 0}, {-1, 1}} {
		if got := text.WordScore(nothing[0], nothing[1]); got != 0 {
			t.Errorf("WordScore%v = %v, want 0", nothing, got)
		}
	}
}
