package embedding

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ErrAnswer is found in the error of an answer that is no list of embeddings.
var ErrAnswer = errors.New("embedding endpoint answered something else")

// answer is the body of a successful request.
type answer struct {
	Data []struct {
		Index     *int      `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
}

// parse reads count vectors of dims numbers and puts them in the order of their texts.
func parse(body []byte, count, dims int) ([][]float32, error) {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil { // which would repeat a part of the body
		return nil, fmt.Errorf("%w: no JSON of the expected form", ErrAnswer)
	}
	if len(a.Data) != count {
		return nil, fmt.Errorf("%w: %d vectors for %d texts", ErrAnswer, len(a.Data), count)
	}
	vectors := make([][]float32, count)
	for i, item := range a.Data {
		place := i
		if item.Index != nil {
			place = *item.Index
		}
		if place < 0 || place >= count || vectors[place] != nil {
			return nil, fmt.Errorf("%w: index %d twice or out of place", ErrAnswer, place)
		}
		if len(item.Embedding) != dims {
			return nil, &DimensionsError{Got: len(item.Embedding), Want: dims}
		}
		if err := Normalize(item.Embedding); err != nil {
			return nil, fmt.Errorf("%w: text %d: %w", ErrAnswer, place, err)
		}
		vectors[place] = item.Embedding
	}
	return vectors, nil
}
