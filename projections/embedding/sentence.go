package embedding

import (
	"context"
	"fmt"
	"strings"

	"github.com/annals-kb/annals/projections/embedding/sentence"
)

// Sentence is the embedder of whole sentences in English that is in the program. It sends texts nowhere. The zero
// value is ready. It reads the weights when it embeds the first text, and keeps them: 20 MB.
//
// Vectors of different machines differ by rounding.
type Sentence struct{}

var _ Embedder = Sentence{}

// Name returns "sentence-1". It must change with every change of a vector.
func (Sentence) Name() string { return "sentence-1" }

// Dims returns 512.
func (Sentence) Dims() int { return sentence.Dims }

// Calibration was measured on questions with known answers: unrelated texts are at about 0.2, answers at about 0.5.
func (Sentence) Calibration() Calibration {
	return calibrated(0.4, 12)
}

// Reads tells whether most of the letters and digits of a text are in the vocabulary: not those of Chinese.
func (Sentence) Reads(_ context.Context, s string) bool {
	encoder, err := sentence.English()
	if err != nil {
		return true // Embed tells why
	}
	_, reads := tokensOf(encoder, s)
	return reads
}

// tokensOf are the tokens of a text, and whether most of its letters and digits are in the vocabulary. White space is a
// blank, since the vocabulary has no line breaks.
func tokensOf(encoder *sentence.Encoder, s string) (tokens []int, reads bool) {
	tokens, known := encoder.Tokens(strings.Join(strings.Fields(s), " "))
	return tokens, known >= 0.5
}

// Request returns as many of the first texts as are encoded in about a second: their vectors are kept then.
func (Sentence) Request(texts []string) []string { return texts[:min(len(texts), 32)] }

// Embed encodes the beginning of each text, up to 128 tokens. A text that it cannot read says nothing.
func (s Sentence) Embed(ctx context.Context, texts []string, kind Kind) ([][]float32, error) {
	encoder, err := sentence.English()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		if tokens, reads := tokensOf(encoder, text); reads {
			vectors[i], err = encoder.Encode(ctx, tokens)
		} else {
			vectors[i], err = noMeaning(s.Dims(), kind), ctx.Err()
		}
		if err != nil {
			return nil, err
		}
	}
	return vectors, nil
}
