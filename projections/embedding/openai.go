package embedding

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain/text"
)

// OpenAI is the embedder behind any endpoint that speaks OpenAI's embeddings API: OpenAI, Volcengine Ark, Ollama,
// vLLM and others. It is safe for concurrent use. Its owner closes it.
type OpenAI struct {
	config  Config
	known   model
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
	return &OpenAI{
		config: config, known: modelNamed(config.Model), limiter: NewLimiter(config.RequestsPerSecond), client: client,
	}, nil
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
	o.client.Transport = wrap("embeddings "+o.config.Model, o.client.Transport)
}

// Close lets idle connections go.
func (o *OpenAI) Close() { o.client.CloseIdleConnections() }

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

// Config states how to reach a model behind an OpenAI-compatible endpoint. URL, Model and, unless the model is known,
// Dims are required; everything else has a default.
type Config struct {
	// Provider stands in front of the name of the vector space. Default "openai".
	Provider string

	// URL is the base, exactly: "/embeddings" is appended and nothing else. "https://api.openai.com/v1".
	URL string

	// Model is the model's name at that endpoint.
	Model string

	// Key is sent as a bearer token, if not empty. It appears in no error.
	Key string

	// Dims is the length of the vectors. Default: the model's own, if the model is known. A model that is known to
	// shorten its vectors on request is asked for it; any other must answer with this many.
	Dims int

	// MaxBatch and MaxBatchTokens bound a request, by texts and by text.Tokens. Default 64 and 32,000.
	MaxBatch, MaxBatchTokens int

	// RequestsPerSecond spaces requests out, with bursts of a second's worth. Default 0: unlimited.
	RequestsPerSecond float64

	// MaxAttempts bounds how often a request is sent if the endpoint is busy, broken or out of reach. Default 5.
	MaxAttempts int

	// MinBackoff and MaxBackoff bound the pause between attempts, which doubles and is random. Default 200 ms and 10 s.
	MinBackoff, MaxBackoff time.Duration

	// Client sends the requests. Default: one of its own, without redirects.
	Client *http.Client
}

// withDefaults fills in what was left out.
func (c Config) withDefaults() Config {
	c.Provider = cmp.Or(c.Provider, "openai")
	c.Dims = cmp.Or(c.Dims, modelNamed(c.Model).dims)
	c.MaxBatch = cmp.Or(c.MaxBatch, 64)
	c.MaxBatchTokens = cmp.Or(c.MaxBatchTokens, 32_000)
	c.MaxAttempts = cmp.Or(c.MaxAttempts, 5)
	c.MinBackoff = cmp.Or(c.MinBackoff, 200*time.Millisecond)
	c.MaxBackoff = cmp.Or(c.MaxBackoff, 10*time.Second)
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
	if err := ValidURL(c.URL); err != nil {
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

// ValidURL refuses the URL of an endpoint that cannot be asked, or that could hold a secret: messages name it.
func ValidURL(s string) error {
	u, err := url.Parse(s)
	switch {
	case s == "":
		return errors.New("missing")
	case err != nil: // which would repeat what may be a secret
		return errors.New("not a URL")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return errors.New("must begin with http:// or https:// and a host")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("must have no user, query or fragment; the key has a setting of its own")
	}
	return nil
}
