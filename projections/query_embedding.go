package projections

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/embedding"
)

// embedTimeout is how long a search waits for the model to embed the question before words alone
// answer.
const embedTimeout = 3 * time.Second

// queryEmbedding is a question's vector, or why there is none.
type queryEmbedding struct {
	vector   []float32
	degraded string
	err      error
}

// embed makes the vector of a question, unless it came with one.
func (m *Meaning) embed(ctx context.Context, s domain.Search) queryEmbedding {
	return m.embedAll(ctx, []domain.Search{s})[0]
}

// embedAll makes the vectors of questions in one request.
func (m *Meaning) embedAll(ctx context.Context, all []domain.Search) []queryEmbedding {
	vectors := make([]queryEmbedding, len(all))
	var texts []string
	places := map[string]int{}
	for i, s := range all {
		if len(s.Vector) > 0 {
			vectors[i] = m.givenVector(s.Vector)
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
	ctx, cancel := context.WithTimeout(ctx, embedTimeout)
	defer cancel()
	made, err := m.embedder.Embed(ctx, texts, embedding.Query)
	if !errors.Is(err, context.Canceled) { // by a caller who left, which says nothing about the model
		m.failure.Store(failureText(err))
	}
	if err != nil {
		m.knowledge.log.WarnContext(ctx, "search without meaning", "embedder", m.embedder.Name(), "error", err)
	}
	for i, s := range all {
		switch {
		case len(s.Vector) > 0:
		case err != nil:
			vectors[i].degraded = fmt.Sprintf("the model of %s does not answer", m.embedder.Name())
		default:
			vectors[i].vector = made[places[s.Text]]
		}
	}
	return vectors
}

// failureText is an error's text; empty for none.
func failureText(err error) string {
	if err == nil {
		return ""
	}
	return "words answer alone: " + err.Error()
}

// givenVector is the vector that a question came with.
func (m *Meaning) givenVector(said []float32) queryEmbedding {
	if len(said) != m.tables.dims {
		return queryEmbedding{err: wrongDimensions(len(said), m.tables.dims)}
	}
	vector := append([]float32(nil), said...)
	if err := embedding.Normalize(vector); err != nil {
		return queryEmbedding{err: wrongVector()}
	}
	return queryEmbedding{vector: vector}
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
