package embedding

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/time/rate"
)

// ErrRefused is matched by the error of a request that would fail again: a wrong key, an unknown model, a bad URL.
var ErrRefused = errors.New("embedding endpoint refused the request")

// ErrText is matched, besides ErrRefused, by the error of a request that the endpoint refused because of its texts.
// Other texts may succeed.
var ErrText = errors.New("embedding endpoint does not take this text")

// ErrQuota is matched by the error of a request that exceeds a limit of the endpoint, of requests or of money.
var ErrQuota = errors.New("quota of the embedding endpoint is used up")

// request is the body of POST {URL}/embeddings.
type request struct {
	Model          string   `json:"model"`
	Input          []string `json:"input"`
	EncodingFormat string   `json:"encoding_format"`
	Dimensions     int      `json:"dimensions,omitempty"`
}

// failure is a failed attempt that may be repeated.
type failure struct {
	what       string
	kind       error
	retryAfter time.Duration // as asked for; 0 if not
}

func (f *failure) Error() string { return f.what }

// The time for one attempt, and the longest pause that the endpoint may ask for: beyond it there is no other attempt.
const (
	requestTimeout    = 30 * time.Second
	longestRetryAfter = time.Minute
)

// post sends the texts once. It returns a failure if another attempt may succeed.
func (o *OpenAI) post(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(o.request(texts))
	if err != nil {
		return nil, err
	}
	attempt, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	url := strings.TrimSuffix(o.config.URL, "/") + "/embeddings"
	r, err := http.NewRequestWithContext(attempt, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%w: its URL cannot be used", ErrRefused)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	if o.config.Key != "" {
		r.Header.Set("Authorization", "Bearer "+o.config.Key)
	}
	response, err := o.client.Do(r)
	if err != nil {
		return nil, o.broken(ctx, err)
	}
	defer response.Body.Close() //nolint:errcheck // read to its end or given up
	answer, err := io.ReadAll(io.LimitReader(response.Body, o.maxAnswer(len(texts))+1))
	if err != nil {
		return nil, o.broken(ctx, err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, refusal(response, answer)
	}
	if int64(len(answer)) > o.maxAnswer(len(texts)) {
		return nil, fmt.Errorf("%w: larger than %d bytes", ErrAnswer, o.maxAnswer(len(texts)))
	}
	return parse(answer, len(texts), o.config.Dims)
}

// request asks for a number of dimensions only if the model is known to shorten its vectors and must do so.
func (o *OpenAI) request(texts []string) request {
	body := request{Model: o.config.Model, Input: texts, EncodingFormat: "float"}
	if o.known.shortens && o.known.dims != o.config.Dims {
		body.Dimensions = o.config.Dims
	}
	return body
}

// maxAnswer is larger than any valid answer: 32 bytes per number, and room for the rest.
func (o *OpenAI) maxAnswer(texts int) int64 {
	return int64(texts)*(int64(o.config.Dims)*32+1024) + 64<<10
}

// broken describes a failed attempt without its error, which might repeat what was sent or received.
func (o *OpenAI) broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var timeout net.Error
	var operation *net.OpError
	var resolution *net.DNSError
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return &failure{kind: ErrUnavailable, what: fmt.Sprintf("no answer within %v", requestTimeout)}
	case errors.As(err, &resolution):
		return &failure{kind: ErrUnavailable, what: "its host name does not resolve"}
	case errors.As(err, &operation) && operation.Op == "dial":
		return &failure{kind: ErrUnavailable, what: "no connection to its host"}
	default:
		return &failure{kind: ErrUnavailable, what: "the connection broke"}
	}
}

// refusal turns an answer other than 200 into an error: a failure if the endpoint is busy or broken.
func refusal(response *http.Response, answer []byte) error {
	what := fmt.Sprintf("status %d", response.StatusCode)
	if code := errorCode(answer); code != "" {
		what += " (" + code + ")"
	}
	switch status := response.StatusCode; {
	case status == http.StatusTooManyRequests, status == http.StatusRequestTimeout, status == http.StatusTooEarly,
		status >= 500 && status != http.StatusNotImplemented:
		kind := ErrUnavailable
		if status == http.StatusTooManyRequests {
			kind = fmt.Errorf("%w: %w", ErrUnavailable, ErrQuota)
		}
		return &failure{what, kind, retryAfter(response.Header.Get("Retry-After"), time.Now())}
	case status == http.StatusPaymentRequired:
		return fmt.Errorf("%w: %w: %s", ErrRefused, ErrQuota, what)
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return fmt.Errorf("%w: %s: check its key", ErrRefused, what)
	case status == http.StatusNotFound, status >= 300 && status < 400:
		return fmt.Errorf("%w: %s: check its URL, to which /embeddings is appended, and its model", ErrRefused, what)
	case status == http.StatusBadRequest, status == http.StatusRequestEntityTooLarge,
		status == http.StatusUnprocessableEntity:
		return fmt.Errorf("%w: %w: %s", ErrRefused, ErrText, what)
	default:
		return fmt.Errorf("%w: %s", ErrRefused, what)
	}
}

var codeForm = regexp.MustCompile(`^[A-Za-z][A-Za-z_.]{1,47}$`)

// errorCode reads the code of an OpenAI error. It ignores the message, which may repeat the key or the text.
func errorCode(answer []byte) string {
	var body struct {
		Error struct {
			Code any `json:"code"`
		} `json:"error"`
	}
	if json.Unmarshal(answer, &body) != nil {
		return ""
	}
	if code, ok := body.Error.Code.(string); ok && codeForm.MatchString(code) {
		return code
	}
	return ""
}

// ErrAnswer is matched by the error of an answer that is not a list of embeddings.
var ErrAnswer = errors.New("embedding endpoint answered something else")

// answer is the body of a successful request.
type answer struct {
	Data []struct {
		Index     *int      `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
}

// parse reads count vectors of dims numbers and puts them in the order of their texts.
func parse(body []byte, count, dims int) ([][]float32, error) {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil { // which would repeat a part of the body
		if bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) {
			return nil, fmt.Errorf("%w: an HTML page: check its URL, to which /embeddings is appended", ErrAnswer)
		}
		return nil, fmt.Errorf("%w: no JSON of the expected form", ErrAnswer)
	}
	if len(a.Data) != count {
		return nil, fmt.Errorf("%w: %d vectors for %d texts", ErrAnswer, len(a.Data), count)
	}
	vectors := make([][]float32, count)
	for i, item := range a.Data {
		place := i
		if item.Index != nil {
			place = *item.Index
		}
		if place < 0 || place >= count || vectors[place] != nil {
			return nil, fmt.Errorf("%w: index %d twice or out of place", ErrAnswer, place)
		}
		if len(item.Embedding) != dims {
			return nil, fmt.Errorf("%w: got %d, want %d", ErrDimensions, len(item.Embedding), dims)
		}
		if err := Normalize(item.Embedding); err != nil {
			return nil, fmt.Errorf("%w: text %d: %w", ErrAnswer, place, err)
		}
		vectors[place] = item.Embedding
	}
	return vectors, nil
}

// embed sends one batch until it succeeds, fails permanently, or runs out of attempts or time.
func (o *OpenAI) embed(ctx context.Context, texts []string) ([][]float32, error) {
	for attempt := 1; ; attempt++ {
		if err := o.limiter.Wait(ctx); err != nil {
			return nil, err
		}
		vectors, err := o.post(ctx, texts)
		var failed *failure
		if !errors.As(err, &failed) {
			return vectors, err
		}
		pause := max(o.backoff(attempt), failed.retryAfter)
		if attempt >= o.config.MaxAttempts || failed.retryAfter > longestRetryAfter || endsWithin(ctx, pause) {
			return nil, fmt.Errorf("%w after %d attempts: %s", failed.kind, attempt, failed.what)
		}
		if err := Pause(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// backoff is a random pause. Its upper limit is MinBackoff, doubled with every attempt, up to MaxBackoff; its lower
// limit is half of that.
func (o *OpenAI) backoff(attempt int) time.Duration {
	ceiling := o.config.MaxBackoff
	if doublings := attempt - 1; doublings < 30 {
		ceiling = min(ceiling, o.config.MinBackoff<<doublings)
	}
	return ceiling/2 + rand.N(ceiling/2+1) //nolint:gosec // spreads clients out, protects nothing
}

// retryAfter reads a Retry-After header: seconds, or a date.
func retryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(header); err == nil && seconds > 0 {
		return time.Duration(min(seconds, 1<<30)) * time.Second
	}
	if date, err := http.ParseTime(header); err == nil {
		return max(date.Sub(now), 0)
	}
	return 0
}

// Limiter spaces requests evenly, with bursts of at most a second's worth. It is safe for concurrent use.
type Limiter struct{ bucket *rate.Limiter }

// NewLimiter makes a limiter of this many requests a second; 0 or less is no limit.
func NewLimiter(perSecond float64) *Limiter {
	if perSecond <= 0 {
		return &Limiter{bucket: rate.NewLimiter(rate.Inf, 0)}
	}
	return &Limiter{bucket: rate.NewLimiter(rate.Limit(perSecond), max(1, int(perSecond)))}
}

// Wait returns when a request may be sent, or ctx's error. Unlike [rate.Limiter.Wait], it waits until ctx ends even
// if the deadline is too near, so that the error is ctx's own.
func (l *Limiter) Wait(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	pause := l.bucket.Reserve().Delay()
	if pause == 0 {
		return nil
	}
	return Pause(ctx, pause)
}

// endsWithin reports whether ctx ends before a pause would.
func endsWithin(ctx context.Context, pause time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) < pause
}

// Pause waits. It returns ctx's error if ctx ends first.
func Pause(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
