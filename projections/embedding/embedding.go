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
	// never contain a text. They match ErrUnavailable if the model cannot be reached, and ErrDimensions if it returns
	// vectors of another length.
	Embed(ctx context.Context, texts []string, kind Kind) ([][]float32, error)

	// Calibration says how to interpret the cosine of two vectors.
	Calibration() Calibration
}

// Kind is the use of a text: some models embed a question differently from the text that answers it.
type Kind int

// The two sides of a search.
const (
	Document Kind = iota
	Query
)

// ErrUnavailable is returned when a model does not answer, after every retry.
var ErrUnavailable = errors.New("embedding model unavailable")

// ErrDimensions says that a model's vectors do not have the configured length.
var ErrDimensions = errors.New("embedding has the wrong number of dimensions")

// Unconfigured stands for an embedder of existing vectors for which there is no configuration.
type Unconfigured struct {
	Space  string // the name of the embedder
	Length int    // of its vectors
}

var _ Embedder = Unconfigured{}

// Name is the space's.
func (u Unconfigured) Name() string { return u.Space }

// Dims is the length of the existing vectors.
func (u Unconfigured) Dims() int { return u.Length }

// Calibration follows from the name of the model.
func (u Unconfigured) Calibration() Calibration {
	if strings.HasPrefix(u.Space, filePrefix) {
		return fileCalibration
	}
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

// Reads tells whether an embedder can tell a text from others in its script. A text that it cannot read has no vector.
func Reads(ctx context.Context, e Embedder, s string) bool {
	if r, ok := e.(interface {
		Reads(ctx context.Context, s string) bool
	}); ok {
		return r.Reads(ctx, s)
	}
	return true
}

// Request returns the first texts, as many as an embedder takes at once: all of them unless it says so.
func Request(e Embedder, texts []string) []string {
	if r, ok := e.(interface{ Request(texts []string) []string }); ok {
		return r.Request(texts)
	}
	return texts
}

// IsLocal tells whether an embedder uses the processors of this machine.
func IsLocal(e Embedder) bool {
	_, elsewhere := e.(*OpenAI)
	return !elsewhere
}
