package http

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/annals-kb/annals/domain"
)

// call is one request on its way through the server.
type call struct {
	request   *http.Request
	response  http.ResponseWriter
	id        string // of the request: the caller's or a new one
	now       time.Time
	principal domain.Principal
	looked    time.Time // when the rights of the principal were read
	origin    domain.Origin
	route     string          // within a mount
	key       string          // Idempotency-Key; empty without one
	found     domain.Problems // bad headers and parameters, to be named together with those of the body
	err       error           // what went wrong; logged once, when the request is over

	known map[string]parameterForm // the operation's parameters
}

type callKey struct{}

func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

// instance names this request in problems.
func (c *call) instance() string { return "urn:annals:request:" + c.id }

// requestID is the caller's, if it is fit for a log, or a new one.
func requestID(r *http.Request) string {
	if id := r.Header.Get("X-Request-Id"); id != "" && printable(id) {
		return id
	}
	return newID()
}

// newID is a UUIDv7: unique, and in order of time.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// printable tells whether s is short and of visible ASCII characters.
func printable(s string) bool {
	const most = 200
	return len(s) <= most && !strings.ContainsFunc(s, func(r rune) bool { return r < '!' || r > '~' })
}

// header reads a header that is recorded, and notes it if it is not printable.
func (c *call) header(name string) string {
	value := c.request.Header.Get(name)
	if !printable(value) {
		c.found.Add(name, "must be at most 200 visible ASCII characters")
		return ""
	}
	return value
}

// headers reads what is recorded about the request. It refuses an empty Idempotency-Key, which comes from a variable
// that was not set: a repeated request would then take effect twice.
func (c *call) headers() error {
	const key = "Idempotency-Key"
	if given := c.request.Header.Values(key); len(given) > 0 && given[0] == "" {
		return domain.Refuse(domain.ErrMalformed, "the header %s is empty", key).
			WithFix("give every request a key of its own, or leave the header out")
	}
	c.key = c.header(key)
	c.origin = domain.Origin{
		RequestID:     c.id,
		CorrelationID: c.header("Annals-Correlation-Id"),
		CausationID:   c.header("Annals-Causation-Id"),
	}
	// The W3C recommendation requires that an invalid traceparent is ignored.
	if parent := c.request.Header.Get("Traceparent"); len(parent) == 55 && printable(parent) {
		c.origin.Traceparent = parent
	}
	return nil
}

// submission prepares a command for the log. The body is a part of the fingerprint that identifies the request.
func (c *call) submission(command domain.Command, body []byte) domain.Submission {
	submission := domain.Submission{Command: command, By: c.principal, Origin: c.origin}
	if c.key != "" {
		submission.Request = &domain.Request{Key: c.key, Fingerprint: c.fingerprint(body)}
	}
	return submission
}

// fingerprint covers the method, the path, the caller, the parameters, the expected revision and the body. The body's
// spaces and the order of its fields do not count.
func (c *call) fingerprint(body []byte) domain.Fingerprint {
	r := c.request
	outline := []string{r.Method, r.URL.Path, string(c.principal.Subject), string(c.principal.OnBehalfOf)}
	return domain.FingerprintOf(outline, r.URL.Query().Encode(), r.Header.Get("If-Match"), canonical(body))
}

// canonical encodes equal JSON values alike.
func canonical(body []byte) string {
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return string(body)
	}
	written, err := json.Marshal(value)
	if err != nil {
		return string(body)
	}
	return string(written)
}

// target is the item a command is about.
func (c *call) target(id string, revisions []int64) domain.Target {
	return domain.Target{By: c.principal, ID: id, Revisions: revisions}
}

// etag is an item's revision as HTTP writes it.
func etag(revision int64) string { return `"` + strconv.FormatInt(revision, 10) + `"` }

// tagsIn parses the entity tags of If-Match; false if the header holds anything else.
func tagsIn(header string) (list []string, ok bool) {
	for tag := range strings.SplitSeq(header, ",") {
		tag = strings.TrimSpace(tag)
		opaque := strings.TrimPrefix(tag, "W/")
		if len(opaque) < 2 || opaque[0] != '"' || strings.IndexByte(opaque[1:], '"') != len(opaque)-2 {
			return nil, false
		}
		list = append(list, tag)
	}
	return list, true
}

// expectedRevisions are the revisions that If-Match names: nil for any, empty if no tag can match.
func (c *call) expectedRevisions() ([]int64, error) {
	header := strings.TrimSpace(strings.Join(c.request.Header.Values("If-Match"), ","))
	if header == "" || header == "*" {
		return nil, nil
	}
	list, ok := tagsIn(header)
	if !ok {
		return nil, domain.Refuse(domain.ErrMalformed, "If-Match cannot be read").
			WithFix(`send the ETag as it came, such as "3" with its quotation marks`)
	}
	revisions := make([]int64, 0, len(list))
	for _, tag := range list {
		if revision, ok := strong(tag); ok {
			revisions = append(revisions, revision)
		}
	}
	return revisions, nil
}

// strong parses a revision from a strong tag of this server.
func strong(tag string) (int64, bool) {
	number := strings.Trim(tag, `"`)
	revision, err := strconv.ParseInt(number, 10, 64)
	return revision, err == nil && revision > 0 && tag == etag(revision)
}
