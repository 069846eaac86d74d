package sentence

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
)

// written is what scripts/sentence.mjs prints. If it changes, the vectors do, and their space needs another name.
const written = "c4f92a0ac10ec4820b6f471af63194ee2bf0869d597a99e1e57bb4bd7b7c1d34"

func TestTheWeightsAreThoseOfTheScript(t *testing.T) {
	t.Parallel()
	if got := hex.EncodeToString(weights[len(weights)-32:]); got != written {
		t.Errorf("weights.bin has the checksum %s, want %s: run scripts/sentence.mjs weights", got, written)
	}
}

func TestADamagedFileIsAnError(t *testing.T) {
	t.Parallel()
	changed := slices.Clone(weights)
	changed[len(changed)/2]++
	for name, file := range map[string][]byte{
		"none": nil, "short": weights[:10], "cut": weights[:len(weights)/2], "cut at the end": weights[:len(weights)-1],
		"longer": append(slices.Clone(weights), 0), "changed": changed,
	} {
		if encoder, err := Open(file); !errors.Is(err, errDamaged) || encoder != nil {
			t.Errorf("%s: got %v, want %v", name, err, errDamaged)
		}
	}
}

// encode returns nil for an empty text.
func encode(t *testing.T, text string) []float32 {
	t.Helper()
	encoder, err := English()
	if err != nil {
		t.Fatal(err)
	}
	tokens, _ := encoder.Tokens(text)
	if len(tokens) == 0 {
		return nil
	}
	vector, err := encoder.Encode(t.Context(), tokens)
	if err != nil {
		t.Fatal(err)
	}
	return vector
}

func readTexts(t *testing.T) (texts []string) {
	t.Helper()
	file, err := os.ReadFile("testdata/texts.json")
	if err == nil {
		err = json.Unmarshal(file, &texts)
	}
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

func TestVectorsAreThoseOfTheOriginal(t *testing.T) {
	t.Parallel()
	vectors, err := os.ReadFile("testdata/vectors.bin")
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range readTexts(t) {
		if text == "" {
			continue
		}
		want := make([]float32, Dims)
		addRow(want, vectors[i*rowBytes(Dims):], 1)
		if got := cosine(encode(t, text), want); got < 0.999 {
			t.Errorf("%q: the cosine is %.5f, want 0.999", text, got)
		}
	}
}

func cosine(a, b []float32) float64 {
	var product, squaresOfA, squaresOfB float64
	for i, x := range a {
		product += float64(x) * float64(b[i])
		squaresOfA += float64(x) * float64(x)
		squaresOfB += float64(b[i]) * float64(b[i])
	}
	return product / math.Sqrt(squaresOfA*squaresOfB)
}

func TestTextsAreEncodedAtTheSameTime(t *testing.T) {
	t.Parallel()
	texts, want := readTexts(t)[:40], map[string][]float32{}
	for _, text := range texts {
		want[text] = encode(t, text)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for _, text := range texts {
				if !slices.Equal(encode(t, text), want[text]) {
					t.Errorf("%q has another vector while others are encoded", text)
				}
			}
		})
	}
	group.Wait()
}

func TestEncodeStopsWithItsContext(t *testing.T) {
	t.Parallel()
	encoder, err := English()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := encoder.Encode(ctx, []int{reserved}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestProductsAreTheSameWithoutVectorInstructions(t *testing.T) {
	const rows, columns = 10, 33
	a, b := newMatrix(3, columns), newMatrix(rows, columns)
	for i := range a.numbers {
		a.numbers[i] = float32(i%7) - 3
	}
	for i := range b.numbers {
		b.numbers[i] = float32(i%11) - 5
	}
	had := hasVectors
	defer func() { hasVectors = had }()
	var products [2]matrix
	for i := range products {
		hasVectors = had && i == 0
		products[i] = newMatrix(a.rows, rows)
		products[i].multiply(a, b)
	}
	if !slices.Equal(products[0].numbers, products[1].numbers) {
		t.Errorf("got %v without, want %v", products[1].numbers, products[0].numbers)
	}
}

func BenchmarkEncode(b *testing.B) {
	encoder, err := English()
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{12, 40, mostTokens} { // a question, an item, the longest text
		tokens := slices.Repeat([]int{reserved, reserved + 1}, n/2)
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				if _, err := encoder.Encode(b.Context(), tokens); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
