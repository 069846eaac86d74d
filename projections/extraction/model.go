package extraction

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/embedding"
)

// ModelConfig configures a language model.
type ModelConfig struct {
	// URL is the base of an OpenAI-compatible endpoint, such as https://api.openai.com/v1. Required.
	URL string
	// Model is the name that the endpoint knows the model by. Required.
	Model string
	// Key is sent as a bearer token; default: none.
	Key string
	// Timeout limits one request; default: two minutes.
	Timeout time.Duration
	// Attempts limits the attempts at an answer; default: three, of which two may be unreadable.
	Attempts int
	// MaxTokens limits the estimated tokens of one request; default: 60,000. A longer conversation is sent in parts.
	MaxTokens int
	// RequestsPerSecond spaces requests out, with bursts of a second's worth; default: no limit.
	RequestsPerSecond float64
	// Client sends requests; default: a client of its own.
	Client *http.Client
	// Pause waits before another attempt; default: a real pause.
	Pause func(ctx context.Context, d time.Duration) error
}

// Validate names everything that is wrong.
func (c ModelConfig) Validate() error {
	var problems []error
	if err := embedding.ValidURL(c.URL); err != nil {
		problems = append(problems, fmt.Errorf("URL: %w", err))
	}
	if c.Model == "" {
		problems = append(problems, errors.New("MODEL is missing: the name that the endpoint knows the model by"))
	}
	return errors.Join(problems...)
}

// Model extracts lessons with a language model. It is safe for concurrent use.
type Model struct {
	config  ModelConfig
	limiter *embedding.Limiter

	mu      sync.Mutex
	refusal error // of an endpoint that needs other settings
}

var _ Extractor = (*Model)(nil)

// NewModel makes an extractor, or returns everything that is wrong with its configuration. It sends nothing yet.
func NewModel(config ModelConfig) (*Model, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	config.Timeout = cmp.Or(config.Timeout, 2*time.Minute)
	config.Attempts = cmp.Or(config.Attempts, 3)
	config.MaxTokens = cmp.Or(config.MaxTokens, 60_000)
	if config.Client == nil {
		noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		config.Client = &http.Client{CheckRedirect: noRedirect}
	}
	if config.Pause == nil {
		config.Pause = embedding.Pause
	}
	return &Model{config: config, limiter: embedding.NewLimiter(config.RequestsPerSecond)}, nil
}

// Through sends requests through what wrap makes of the client's transport.
func (m *Model) Through(wrap func(operation string, next http.RoundTripper) http.RoundTripper) {
	m.config.Client.Transport = wrap("chat "+m.config.Model, m.config.Client.Transport)
}

func (m *Model) Name() string { return "model " + m.config.Model }

// Extract implements [Extractor]. It counts the runs of tools and skills by itself. The error matches
// [domain.ErrUnavailable] if the endpoint is unavailable or busy. A refusal of the endpoint, or repeated unreadable
// answers, are permanent errors.
func (m *Model) Extract(ctx context.Context, c Conversation) (Result, error) {
	found := Result{}
	for _, part := range portions(c, m.config.MaxTokens) {
		var got Result
		err := m.ask(ctx, responseFormat(), taskFor(c), transcript(c, part), func(raw []byte) (err error) {
			got, err = parse(raw, c, part)
			return err
		})
		if err != nil {
			return found, err
		}
		found.Findings = append(found.Findings, got.Findings...)
		found.Usage.PromptTokens += got.Usage.PromptTokens
		found.Usage.CompletionTokens += got.Usage.CompletionTokens
		found.Summary.Abstract = cut(strings.TrimSpace(found.Summary.Abstract+" "+got.Summary.Abstract), 2000)
		found.Summary.Overview = cut(strings.TrimSpace(found.Summary.Overview+"\n\n"+got.Summary.Overview), 8000)
	}
	if found.Summary == (domain.Summary{}) {
		found.Summary = summarize(c)
	}
	found.Findings = append(found.Findings, runs(c)...)
	return found, nil
}

// errNonsense says that an answer cannot be read. The next answer may be better.
var errNonsense = errors.New("its answer cannot be read")

// busy is an attempt that failed temporarily.
type busy struct {
	what  string
	after time.Duration // as asked for; 0 if not
}

func (b *busy) Error() string { return b.what }

// longestPause limits the pauses within one extraction. If the endpoint asks for a longer one, the whole archive is
// retried later.
const longestPause = 30 * time.Second

// errSettings says that an endpoint needs other settings. errKey says that it needs another key.
var (
	errSettings = errors.New("it cannot be asked like this")
	errKey      = fmt.Errorf("%w", errSettings)
)

// Refusal is why the endpoint needs other settings, according to its answers; nil if no such reason is known.
func (m *Model) Refusal() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.refusal
}

// noteRefusal remembers a refusal until the endpoint answers. It ignores temporary errors.
func (m *Model) noteRefusal(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case errors.Is(err, errSettings):
		m.refusal = fmt.Errorf("ask %s: %w", m.Name(), err)
	case err == nil, errors.Is(err, errNonsense):
		m.refusal = nil
	}
}

// Probe requests the endpoint's list of models, which is free, and returns a refusal of the key. An invalid key is
// thus known before the first extraction. Other answers are ignored, since not every endpoint or key allows the list.
func (m *Model) Probe(ctx context.Context) error {
	if _, err := m.send(ctx, http.MethodGet, "/models", nil); errors.Is(err, errKey) {
		m.noteRefusal(err)
	}
	return m.Refusal()
}

// ask asks for an answer in a format until read accepts it. The error names the model.
func (m *Model) ask(ctx context.Context, format json.RawMessage, task, input string, read func([]byte) error) error {
	err := m.askAgain(ctx, chatRequest{Model: m.config.Model, ResponseFormat: format, Messages: []chatMessage{
		{Role: "system", Content: task}, {Role: "user", Content: input},
	}}, read)
	if err != nil {
		return fmt.Errorf("ask %s: %w", m.Name(), err)
	}
	return nil
}

// askAgain sends a request until read accepts the answer. It says once to the model why its answer cannot be read.
func (m *Model) askAgain(ctx context.Context, request chatRequest, read func(raw []byte) error) error {
	isTold := false
	for attempt := 1; ; attempt++ {
		if err := m.limiter.Wait(ctx); err != nil {
			return err
		}
		err := m.try(ctx, request, read)
		m.noteRefusal(err)
		waiting, passes := errors.AsType[*busy](err)
		last := attempt >= m.config.Attempts
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, errNonsense) && !last && !isTold:
			isTold = true
			request.Messages = append(slices.Clone(request.Messages), chatMessage{
				Role: "user", Content: "You answered this before, and " + err.Error() + ". Answer with the JSON object alone.",
			})
			continue
		case !passes:
			return err
		case last || waiting.after > longestPause:
			return fmt.Errorf("%w after %d attempts: %s", domain.ErrUnavailable, attempt, waiting.what)
		}
		if err := m.config.Pause(ctx, max(waiting.after, min(longestPause, time.Second<<(attempt-1)))); err != nil {
			return err
		}
	}
}

// largestAnswer limits the bytes of an answer.
const largestAnswer = 4 << 20

func (m *Model) try(ctx context.Context, request chatRequest, read func(raw []byte) error) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	answer, err := m.send(ctx, http.MethodPost, "/chat/completions", body)
	if err != nil {
		return err
	}
	return read(answer)
}

// send returns the body of an answer with status 200.
func (m *Model) send(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	attempt, cancel := context.WithTimeout(ctx, m.config.Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(attempt, method, strings.TrimSuffix(m.config.URL, "/")+path,
		bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if m.config.Key != "" {
		r.Header.Set("Authorization", "Bearer "+m.config.Key)
	}
	response, err := m.config.Client.Do(r)
	if err != nil {
		return nil, broken(err, m.config.Timeout)
	}
	defer response.Body.Close() //nolint:errcheck // read to its end or given up
	answer, err := io.ReadAll(io.LimitReader(response.Body, largestAnswer))
	if err != nil {
		return nil, broken(err, m.config.Timeout)
	}
	if response.StatusCode != http.StatusOK {
		return nil, m.refused(response)
	}
	return answer, nil
}

// broken describes a failed request without its error, which might repeat what was sent.
func broken(err error, timeout time.Duration) error {
	if waited, is := errors.AsType[net.Error](err); is && waited.Timeout() {
		return &busy{what: fmt.Sprintf("no answer within %v", timeout)}
	}
	return &busy{what: "no connection, or one that broke"}
}

// refused is the error for an answer other than 200: busy, or a permanent error.
func (m *Model) refused(response *http.Response) error {
	what := fmt.Sprintf("status %d", response.StatusCode)
	switch status := response.StatusCode; {
	case status == http.StatusTooManyRequests, status == http.StatusRequestTimeout, status == http.StatusTooEarly,
		status >= 500 && status != http.StatusNotImplemented:
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After")) // 0 without a header, or with a date
		return &busy{what: what, after: time.Duration(max(0, seconds)) * time.Second}
	case status == http.StatusUnauthorized:
		does := "refuses the key"
		if m.config.Key == "" {
			does = "wants a key"
		}
		return fmt.Errorf("%w: %s %s, %s: set ANNALS_LLM_KEY to one that it takes", errKey, m.config.URL, does, what)
	case status == http.StatusForbidden:
		return fmt.Errorf("%w: %s forbids it, %s: see what the key may do (ANNALS_LLM_KEY)", errSettings, m.config.URL, what)
	case status == http.StatusNotFound:
		return fmt.Errorf("%w: %s has no such thing, %s: check ANNALS_LLM_URL, to which /chat/completions is appended, "+
			"and ANNALS_LLM_MODEL",
			errSettings, m.config.URL, what)
	default:
		return errors.New(what)
	}
}

// FromEnvironment selects the extractor that the environment names; reason says in a sentence which and why. It is a
// model if ANNALS_LLM_URL and ANNALS_LLM_MODEL are set, otherwise the built-in rules. ANNALS_LLM_KEY is the model's
// key, and ANNALS_LLM_RATE limits its requests per second.
func FromEnvironment(getenv func(string) string) (Extractor, string, error) {
	config := ModelConfig{URL: getenv("ANNALS_LLM_URL"), Model: getenv("ANNALS_LLM_MODEL"), Key: getenv("ANNALS_LLM_KEY")}
	if rate := getenv("ANNALS_LLM_RATE"); rate != "" {
		var err error
		if config.RequestsPerSecond, err = strconv.ParseFloat(rate, 64); err != nil || !(config.RequestsPerSecond >= 0) {
			return nil, "", errors.New("ANNALS_LLM_RATE: not a number of requests a second")
		}
	}
	if config.URL == "" && config.Model == "" && config.Key == "" {
		return BuiltIn{}, "rules, built in: no model, no network. For one that reads between the lines set " +
			"ANNALS_LLM_URL and ANNALS_LLM_MODEL", nil
	}
	model, err := NewModel(config)
	if err != nil {
		return nil, "", fmt.Errorf("ANNALS_LLM_URL, _MODEL, _KEY: %w", err)
	}
	return model, fmt.Sprintf("%s at %s, because ANNALS_LLM_URL says so", config.Model, config.URL), nil
}
