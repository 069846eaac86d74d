package embedding

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Embedder turns texts into unit vectors.
type Embedder interface {
	// Name names the vector space: provider, model and dimensions, such as "openai:text-embedding-3-small:1536".
	Name() string

	// Dims is the length of every vector.
	Dims() int

	// Embed returns one vector of Dims float32 and length 1 per text, in order. It is safe for concurrent use. Errors
	// never contain a text. It returns ErrUnavailable if the model cannot be reached, ErrDimensions if it answers with
	// vectors of another length.
	Embed(ctx context.Context, texts []string, kind Kind) ([][]float32, error)

	// Calibration states how to read the cosine of two of its vectors.
	Calibration() Calibration
}

// Kind states what a text is for: some models embed a question differently from the text that answers it.
type Kind int

// The two sides of a search.
const (
	Document Kind = iota
	Query
)

// ErrUnavailable is returned when a model does not answer, after every retry.
var ErrUnavailable = errors.New("embedding model unavailable")

// ErrDimensions is found by errors.Is in every DimensionsError.
var ErrDimensions = errors.New("embedding has the wrong number of dimensions")

// DimensionsError states that a model's vectors are not as long as configured.
type DimensionsError struct{ Got, Want int }

func (e *DimensionsError) Error() string {
	return fmt.Sprintf("%v: got %d, want %d", ErrDimensions, e.Got, e.Want)
}

// Is matches ErrDimensions.
func (e *DimensionsError) Is(target error) bool { return target == ErrDimensions }

// Unconfigured stands for an embedder whose vectors are there, and which no setting states how to reach.
type Unconfigured struct {
	Space  string // its name
	Length int    // of its vectors
}

var _ Embedder = Unconfigured{}

// Name is the space's.
func (u Unconfigured) Name() string { return u.Space }

// Dims is the length of the vectors that are there.
func (u Unconfigured) Dims() int { return u.Length }

// Calibration is by the name of the model.
func (u Unconfigured) Calibration() Calibration {
	_, model, _ := strings.Cut(u.Space, ":")
	if dims := strings.LastIndexByte(model, ':'); dims >= 0 {
		model = model[:dims]
	}
	return modelNamed(model).calibration
}

// Embed always returns ErrUnavailable.
func (u Unconfigured) Embed(context.Context, []string, Kind) ([][]float32, error) {
	return nil, fmt.Errorf("%s: %w: no setting says how to reach it", u.Space, ErrUnavailable)
}

// Request takes from the front of texts what an embedder sends to its model at once: all of them where
// there is no model to send to.
func Request(e Embedder, texts []string) []string {
	if o, ok := e.(interface{ Request(texts []string) []string }); ok {
		return o.Request(texts)
	}
	return texts
}
