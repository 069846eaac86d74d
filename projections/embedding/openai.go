package embedding

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/projections/endpoint"
)

// OpenAI is the embedder behind any endpoint that speaks OpenAI's embeddings API: OpenAI, Volcengine Ark, Ollama,
// vLLM and others. It is safe for concurrent use. Its owner closes it.
type OpenAI struct {
	config Config
	known  model
	client *endpoint.Client

	scripts sync.Map // whether the model reads a script, by its name
}

var _ Embedder = (*OpenAI)(nil)

// NewOpenAI returns an embedder, or every problem of its configuration. It sends nothing yet.
func NewOpenAI(config Config) (*OpenAI, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	config = config.withDefaults()
	return &OpenAI{config: config, known: modelNamed(config.Model), client: endpoint.New(config.Config)}, nil
}

// Name is provider:model:dimensions.
func (o *OpenAI) Name() string {
	return o.config.Provider + ":" + o.config.Model + ":" + strconv.Itoa(o.config.Dims)
}

// Dims returns the configured length of the vectors.
func (o *OpenAI) Dims() int { return o.config.Dims }

// Calibration is that of the model's name.
func (o *OpenAI) Calibration() Calibration { return o.known.calibration }

// Through sends requests through what wrap makes of the client's transport.
func (o *OpenAI) Through(wrap func(operation string, next http.RoundTripper) http.RoundTripper) {
	o.client.Through("embeddings "+o.config.Model, wrap)
}

// Close lets idle connections go.
func (o *OpenAI) Close() { o.client.HTTP.CloseIdleConnections() }

// Embed sends the texts in batches, one after the other. Besides ErrUnavailable and ErrDimensions, it returns
// ErrRefused for a request that can never succeed, ErrAnswer for an invalid answer, and the context's error.
func (o *OpenAI) Embed(ctx context.Context, texts []string, kind Kind) ([][]float32, error) {
	vectors := make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		batch := o.Request(texts)
		found, err := o.embed(ctx, o.prefixed(batch, kind))
		if err != nil {
			return nil, fmt.Errorf("embedding with %s: %w", o.Name(), err)
		}
		vectors = append(vectors, found...)
		texts = texts[len(batch):]
	}
	return vectors, nil
}

// Request returns as many of the first texts as a request may have, at least one.
func (o *OpenAI) Request(texts []string) []string {
	tokens := 0
	for i, s := range texts {
		tokens += text.Tokens(s)
		if i > 0 && (i == o.config.MaxBatch || tokens > o.config.MaxBatchTokens) {
			return texts[:i]
		}
	}
	return texts
}

// prefixed adds the model's prefix to each text. A dash replaces an empty text, which some endpoints refuse.
func (o *OpenAI) prefixed(texts []string, kind Kind) []string {
	prefix := o.known.documentPrefix
	if kind == Query {
		prefix = o.known.queryPrefix
	}
	inputs := make([]string, len(texts))
	for i, s := range texts {
		if strings.TrimSpace(s) == "" {
			s = "-"
		}
		inputs[i] = prefix + strings.ToValidUTF8(s, "\uFFFD")
	}
	return inputs
}

// Config states how to ask a model for vectors. Unless the model is known, Dims is required.
type Config struct {
	endpoint.Config

	// Provider stands in front of the name of the vector space. Default "openai".
	Provider string

	// Dims is the length of the vectors. Default: the model's own, if the model is known. A model that is known to
	// shorten its vectors on request is asked for it; any other must answer with this many.
	Dims int

	// MaxBatch and MaxBatchTokens bound a request, by texts and by text.Tokens. Default 64 and 32,000.
	MaxBatch, MaxBatchTokens int
}

// withDefaults fills in what was left out.
func (c Config) withDefaults() Config {
	c.Provider = cmp.Or(c.Provider, "openai")
	c.Dims = cmp.Or(c.Dims, modelNamed(c.Model).dims)
	c.MaxBatch = cmp.Or(c.MaxBatch, 64)
	c.MaxBatchTokens = cmp.Or(c.MaxBatchTokens, 32_000)
	return c
}

// Validate returns every problem at once, without the key.
func (c Config) Validate() error {
	c = c.withDefaults()
	var problems []error
	problem := func(wrong bool, format string, args ...any) {
		if wrong {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	if err := endpoint.ValidURL(c.URL); err != nil {
		problems = append(problems, fmt.Errorf("embedding URL: %w", err))
	}
	problem(c.Model == "", "embedding model: missing, set ANNALS_EMBEDDING_MODEL to its name")
	problem(c.Dims == 0 && c.Model != "", "embedding dimensions: unknown for model %q: state the length of its vectors",
		c.Model)
	problem(c.Dims < 0 || c.Dims > 65536, "embedding dimensions: %d is not between 1 and 65536", c.Dims)
	problem(strings.ContainsFunc(c.Key, func(r rune) bool { return r <= ' ' || r >= 0x7F }),
		"embedding key: has blanks or characters that cannot be sent")
	problem(c.RequestsPerSecond < 0, "embedding rate: negative")
	return errors.Join(problems...)
}
