package embedding

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/text"
)

// OpenAI is the embedder behind any endpoint that speaks OpenAI's embeddings API: OpenAI, Volcengine Ark, Ollama, vLLM and
// others. It is safe for concurrent use. Whoever made it closes it.
type OpenAI struct {
	config  Config
	limiter *Limiter
	client  *http.Client
}

var _ Embedder = (*OpenAI)(nil)

// NewOpenAI returns an embedder, or every problem of its configuration. It sends nothing yet.
func NewOpenAI(config Config) (*OpenAI, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	config = config.withDefaults()
	client := config.Client
	if client == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // documented to be one
		client = &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	return &OpenAI{config: config, limiter: NewLimiter(config.RequestsPerSecond), client: client}, nil
}

// Name is provider:model:dimensions.
func (o *OpenAI) Name() string {
	return o.config.Provider + ":" + o.config.Model + ":" + strconv.Itoa(o.config.Dims)
}

// Dims returns the configured length of the vectors.
func (o *OpenAI) Dims() int { return o.config.Dims }

// Calibration is that of the model's name, unless configured.
func (o *OpenAI) Calibration() Calibration { return o.config.Calibration }

// Close lets idle connections go.
func (o *OpenAI) Close() { o.client.CloseIdleConnections() }

// Embed sends the texts in batches, one after the other. Beside ErrUnavailable and ErrDimensions it returns ErrRefused for
// a request that will never succeed, ErrAnswer for an answer that is none, and the context's error.
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

// Request takes as many texts from the front as a request may have, one at least.
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

// prefixed adds what the model wants before a text. Nothing at all is refused by some endpoints, so a dash stands for it.
func (o *OpenAI) prefixed(texts []string, kind Kind) []string {
	prefix := o.config.DocumentPrefix
	if kind == Query {
		prefix = o.config.QueryPrefix
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
