package vectors

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/embedding"
)

// embedTimeout is how long a search waits for a model to embed the question. After that it searches without it.
const embedTimeout = 3 * time.Second

// QueryEmbedding is a question's vector, or why there is none. A question without a text and a vector has neither.
type QueryEmbedding struct {
	Vector   []float32
	Degraded string
	Err      error
}

// NotAsked begins the error of a projection whose model did not embed the last question.
const NotAsked = "answers do without it"

// EmbedAll embeds questions in one request.
func (m *Projection) EmbedAll(ctx context.Context, all []domain.Search) []QueryEmbedding {
	if !slices.ContainsFunc(all, func(s domain.Search) bool { return s.Copies }) { // which nobody waits for
		m.asked.Store(time.Now().UnixNano())
	}
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, embedTimeout)
	defer cancel()
	vectors := make([]QueryEmbedding, len(all))
	var texts []string
	places := map[string]int{}
	for i, s := range all {
		if len(s.Vector) > 0 {
			vectors[i] = m.givenVector(s.Vector)
			continue
		}
		if s.Text == "" || !embedding.Reads(ctx, m.Embedder, s.Text) {
			continue
		}
		if _, known := places[s.Text]; !known {
			places[s.Text] = len(texts)
			texts = append(texts, s.Text)
		}
	}
	if len(texts) == 0 {
		return vectors
	}
	made, err := m.Embedder.Embed(ctx, texts, embedding.Query)
	if err != nil && len(texts) > 1 { // one of them may be the cause
		for i := range all {
			vectors[i] = m.EmbedAll(caller, all[i:i+1])[0]
		}
		return vectors
	}
	callerLeft := err != nil && caller.Err() != nil // a caller that left says nothing about the model
	if !callerLeft {
		failure := ""
		if err != nil {
			failure = NotAsked + ": " + err.Error()
		}
		m.failure.Store(failure)
	}
	if err != nil && !callerLeft {
		m.catalogue.Log.WarnContext(ctx, "a search did without the model", "embedder", m.Embedder.Name(), "error", err)
	}
	for i, s := range all {
		place, asked := places[s.Text]
		switch {
		case len(s.Vector) > 0 || !asked:
		case err != nil && (errors.Is(err, embedding.ErrRefused) || errors.Is(err, embedding.ErrQuota) ||
			errors.Is(err, embedding.ErrAnswer) || errors.Is(err, embedding.ErrDimensions)):
			vectors[i].Degraded = err.Error()
		case err != nil:
			vectors[i].Degraded = fmt.Sprintf("the model of %s does not answer", m.Embedder.Name())
		default:
			vectors[i].Vector = made[place]
		}
	}
	return vectors
}

// givenVector is the vector that a question has already.
func (m *Projection) givenVector(input []float32) QueryEmbedding {
	if len(input) != m.Tables.dims {
		return QueryEmbedding{Err: wrongDimensions(len(input), m.Tables.dims)}
	}
	vector := append([]float32(nil), input...)
	if err := embedding.Normalize(vector); err != nil {
		return QueryEmbedding{Err: wrongVector()}
	}
	return QueryEmbedding{Vector: vector}
}

func wrongDimensions(got, want int) error {
	var p domain.Problems
	p.Add("vector", "must have %d numbers, has %d", want, got)
	return p.Err()
}

func wrongVector() error {
	var p domain.Problems
	p.Add("vector", "must not be all zero")
	return p.Err()
}
