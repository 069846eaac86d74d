package embedding

import (
	"context"
	"fmt"
	"strings"
)

// Unconfigured stands for an embedder whose vectors are there, and which no setting says how to reach.
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
