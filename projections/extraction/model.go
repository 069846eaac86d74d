package extraction

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/endpoint"
)

// ModelConfig configures a language model. Timeout has the default of two minutes, Attempts of three, and MinBackoff of
// a second. An unreadable answer is asked for once more.
type ModelConfig struct {
	endpoint.Config

	// MaxTokens limits the estimated tokens of one request; default: 60,000. A longer conversation is sent in parts.
	MaxTokens int
}

// Validate names everything that is wrong.
func (c ModelConfig) Validate() error {
	var problems []error
	if err := endpoint.ValidURL(c.URL); err != nil {
		problems = append(problems, fmt.Errorf("URL: %w", err))
	}
	if c.Model == "" {
		problems = append(problems, errors.New("MODEL is missing: the name that the endpoint knows the model by"))
	}
	return errors.Join(problems...)
}

// Model extracts lessons with a language model. It is safe for concurrent use.
type Model struct {
	config ModelConfig
	client *endpoint.Client

	mu      sync.Mutex
	refusal error // of an endpoint that needs other settings
}

var _ Extractor = (*Model)(nil)

// NewModel makes an extractor, or returns everything that is wrong with its configuration. It sends nothing yet.
func NewModel(config ModelConfig) (*Model, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	config.MaxTokens = cmp.Or(config.MaxTokens, 60_000)
	config.Timeout, config.Attempts = cmp.Or(config.Timeout, 2*time.Minute), cmp.Or(config.Attempts, 3)
	config.MinBackoff = cmp.Or(config.MinBackoff, time.Second)
	return &Model{config: config, client: endpoint.New(config.Config)}, nil
}

// Through sends requests through what wrap makes of the client's transport.
func (m *Model) Through(wrap func(operation string, next http.RoundTripper) http.RoundTripper) {
	m.client.Through("chat "+m.config.Model, wrap)
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
	for isTold := false; ; isTold = true {
		body, err := json.Marshal(request)
		if err != nil {
			return err
		}
		answer, err := m.send(ctx, http.MethodPost, "/chat/completions", body)
		if err == nil {
			err = read(answer)
		}
		m.noteRefusal(err)
		if !errors.Is(err, errNonsense) || isTold {
			return err
		}
		request.Messages = append(slices.Clone(request.Messages), chatMessage{
			Role: "user", Content: "You answered this before, and " + err.Error() + ". Answer with the JSON object alone.",
		})
	}
}

// largestAnswer limits the bytes of an answer.
const largestAnswer = 4 << 20

// send returns the body of an answer.
func (m *Model) send(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	answer, err := m.client.Do(ctx, method, path, body, largestAnswer)
	if failed, is := errors.AsType[*endpoint.Error](err); is {
		err = m.refused(failed)
	}
	return answer, err
}

// refused is the error for an endpoint that did not answer.
func (m *Model) refused(failed *endpoint.Error) error {
	switch status := failed.Status; {
	case failed.Temporary:
		return fmt.Errorf("%w %w", domain.ErrUnavailable, failed)
	case status == http.StatusUnauthorized:
		does := "refuses the key"
		if m.config.Key == "" {
			does = "wants a key"
		}
		return fmt.Errorf("%w: %s %s, %w: set ANNALS_LLM_KEY to one that it takes", errKey, m.config.URL, does, failed)
	case status == http.StatusForbidden:
		return fmt.Errorf("%w: %s forbids it, %w: see what the key may do (ANNALS_LLM_KEY)",
			errSettings, m.config.URL, failed)
	case status == http.StatusNotFound:
		return fmt.Errorf("%w: %s has no such thing, %w: check ANNALS_LLM_URL, to which /chat/completions is appended, "+
			"and ANNALS_LLM_MODEL",
			errSettings, m.config.URL, failed)
	default:
		return failed
	}
}

// FromEnvironment selects the extractor that the environment names; reason says in a sentence which and why. It is a
// model if ANNALS_LLM_URL and ANNALS_LLM_MODEL are set, otherwise the built-in rules. ANNALS_LLM_KEY is the model's
// key, and ANNALS_LLM_RATE limits its requests per second.
func FromEnvironment(getenv func(string) string) (Extractor, string, error) {
	config := ModelConfig{Config: endpoint.Config{
		URL: getenv("ANNALS_LLM_URL"), Model: getenv("ANNALS_LLM_MODEL"), Key: getenv("ANNALS_LLM_KEY"),
	}}
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
