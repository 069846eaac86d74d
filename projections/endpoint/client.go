package endpoint

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/time/rate"
)

// Config states how to ask a model of an endpoint. URL and Model are required.
type Config struct {
	// URL is the base, exactly: a path is appended and nothing else. "https://api.openai.com/v1".
	URL string
	// Model is the model's name at that endpoint.
	Model string
	// Key is sent as a bearer token, if not empty. It appears in no error.
	Key string
	// Timeout limits one attempt. Default: 30 seconds.
	Timeout time.Duration
	// Attempts limits how often a request is sent if the endpoint is busy, broken or out of reach. Default: 5.
	Attempts int
	// MinBackoff and MaxBackoff limit the pause between attempts, which doubles and is random. Default: 200 ms and 10 s.
	MinBackoff, MaxBackoff time.Duration
	// RequestsPerSecond spaces requests out, with bursts of a second's worth. Default: no limit.
	RequestsPerSecond float64
	// HTTP sends the requests. Default: a client of its own, without redirects.
	HTTP *http.Client
}

// longestRetryAfter is the longest pause that an endpoint may ask for. Beyond it there is no other attempt.
const longestRetryAfter = time.Minute

// Client sends requests to an endpoint. It is safe for concurrent use.
type Client struct {
	Config

	limiter *rate.Limiter
}

// New makes a client. It sends nothing yet.
func New(config Config) *Client {
	if config.HTTP == nil {
		config.HTTP = &http.Client{
			Transport:     http.DefaultTransport.(*http.Transport).Clone(), //nolint:forcetypeassert // documented to be one
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	config.Timeout, config.Attempts = cmp.Or(config.Timeout, 30*time.Second), cmp.Or(config.Attempts, 5)
	config.MinBackoff = cmp.Or(config.MinBackoff, 200*time.Millisecond)
	config.MaxBackoff = cmp.Or(config.MaxBackoff, 10*time.Second)
	limiter := rate.NewLimiter(rate.Inf, 0)
	if perSecond := config.RequestsPerSecond; perSecond > 0 {
		limiter = rate.NewLimiter(rate.Limit(perSecond), max(1, int(perSecond)))
	}
	return &Client{Config: config, limiter: limiter}
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

// Through sends requests through what wrap makes of the client's transport.
func (c *Client) Through(operation string, wrap func(operation string, next http.RoundTripper) http.RoundTripper) {
	c.HTTP.Transport = wrap(operation, c.HTTP.Transport)
}

// Error is why an endpoint did not answer.
type Error struct {
	Status    int  // of the last answer; 0 if there was none
	Temporary bool // the endpoint was busy, broken or out of reach in the last attempt
	Attempts  int

	what       string
	retryAfter time.Duration // as asked for; 0 if not
}

func (e *Error) Error() string {
	if e.Temporary {
		return fmt.Sprintf("after %d attempts: %s", e.Attempts, e.what)
	}
	return e.what
}

// Do sends a request until an attempt succeeds, fails permanently, or attempts or time run out. It returns at most
// limit bytes of the answer's body. The error is an [*Error] or that of ctx.
func (c *Client) Do(ctx context.Context, method, path string, body []byte, limit int64) ([]byte, error) {
	for attempt := 1; ; attempt++ {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		// Not rate.Limiter.Wait: the error must be that of ctx.
		if err := wait(ctx, c.limiter.Reserve().Delay()); err != nil {
			return nil, err
		}
		answer, err := c.try(ctx, method, path, body, limit)
		failed, is := errors.AsType[*Error](err)
		if !is || !failed.Temporary {
			return answer, err
		}
		failed.Attempts = attempt
		pause := max(c.backoff(attempt), failed.retryAfter)
		if attempt >= c.Attempts || failed.retryAfter > longestRetryAfter || endsWithin(ctx, pause) {
			return nil, failed
		}
		if err := wait(ctx, pause); err != nil {
			return nil, err
		}
	}
}

func (c *Client) try(ctx context.Context, method, path string, body []byte, limit int64) ([]byte, error) {
	attempt, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(attempt, method, strings.TrimSuffix(c.URL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return nil, &Error{what: "its URL cannot be used"}
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	if c.Key != "" {
		r.Header.Set("Authorization", "Bearer "+c.Key)
	}
	response, err := c.HTTP.Do(r)
	if err != nil {
		return nil, c.broken(ctx, err)
	}
	defer response.Body.Close() //nolint:errcheck // read to its end or given up
	answer, err := io.ReadAll(io.LimitReader(response.Body, limit))
	switch {
	case err != nil:
		return nil, c.broken(ctx, err)
	case response.StatusCode != http.StatusOK:
		return nil, refusal(response, answer)
	}
	return answer, nil
}

// broken describes a failed attempt without its error, which might repeat what was sent or received.
func (c *Client) broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	failed := &Error{Temporary: true, what: "the connection broke"}
	var timeout net.Error
	var operation *net.OpError
	var resolution *net.DNSError
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		failed.what = fmt.Sprintf("no answer within %v", c.Timeout)
	case errors.As(err, &resolution):
		failed.what = "its host name does not resolve"
	case errors.As(err, &operation) && operation.Op == "dial":
		failed.what = "no connection to its host"
	}
	return failed
}

// refusal turns an answer other than 200 into an error.
func refusal(response *http.Response, answer []byte) error {
	status := response.StatusCode
	failed := &Error{Status: status, what: fmt.Sprintf("status %d", status)}
	if code := errorCode(answer); code != "" {
		failed.what += " (" + code + ")"
	}
	switch {
	case status == http.StatusTooManyRequests, status == http.StatusRequestTimeout, status == http.StatusTooEarly,
		status >= 500 && status != http.StatusNotImplemented:
		failed.Temporary = true
		failed.retryAfter = retryAfter(response.Header.Get("Retry-After"), time.Now())
	}
	return failed
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

// backoff is a random pause. Its upper limit is MinBackoff, doubled with every attempt, up to MaxBackoff; its lower
// limit is half of that.
func (c *Client) backoff(attempt int) time.Duration {
	ceiling := c.MaxBackoff
	if doublings := attempt - 1; doublings < 30 {
		ceiling = min(ceiling, c.MinBackoff<<doublings)
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

// endsWithin reports whether ctx ends before a pause would.
func endsWithin(ctx context.Context, pause time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) < pause
}

// wait waits. It returns ctx's error if ctx ends first.
func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
