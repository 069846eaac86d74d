package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/annals-kb/annals/domain"
)

// Call is one request on its way through the server.
type Call struct {
	API       *API
	Request   *http.Request
	Response  http.ResponseWriter
	ID        string // of the request: the caller's or a new one
	Now       time.Time
	Principal domain.Principal
	Looked    time.Time // when the rights of the principal were read
	Origin    domain.Origin
	Route     string          // the pattern of the path
	Key       string          // Idempotency-Key; empty without one
	Found     domain.Problems // bad headers and parameters, to be named together with those of the body
	Sent      []byte          // the body, or the record of it, that the fingerprint of the request covers
	Err       error           // what went wrong; logged once, when the request is over

	known map[string]parameterForm // the operation's parameters
}

// Unmatched is the route of requests that have none.
const Unmatched = "unmatched"

type CallKey struct{}

func CallOf(ctx context.Context) *Call { return ctx.Value(CallKey{}).(*Call) }

// Instance names this request in problems.
func (c *Call) Instance() string { return "urn:annals:request:" + c.ID }

// RequestID is the caller's, if it is fit for a log, or a new one.
func RequestID(r *http.Request) string {
	if id := r.Header.Get("X-Request-Id"); id != "" && printable(id) {
		return id
	}
	return NewID()
}

// NewID is a UUIDv7: unique, and in order of time.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// printable tells whether s is short and of visible ASCII characters.
func printable(s string) bool {
	const most = 200
	return len(s) <= most && !strings.ContainsFunc(s, func(r rune) bool { return r < '!' || r > '~' })
}

// redaction is the header that refuses texts from which scrubbing would remove something.
const redaction = "Annals-Redaction"

// header reads a header that is recorded, and notes it if it is not printable.
func (c *Call) header(name string) string {
	value := c.Request.Header.Get(name)
	if !printable(value) {
		c.Found.Add(name, "must be at most 200 visible ASCII characters")
		return ""
	}
	return value
}

// host is the program that asks: what it says, or else the product of its User-Agent.
func (c *Call) host() string {
	const most = 64
	host := c.header("Annals-Host")
	if host == "" {
		host, _, _ = strings.Cut(c.Request.UserAgent(), " ")
	}
	if !printable(host) {
		return ""
	}
	return host[:min(len(host), most)]
}

// Headers reads what is recorded about the request. It refuses an empty Idempotency-Key, which comes from a variable
// that was not set: a repeated request would then take effect twice.
func (c *Call) Headers() error {
	const key = "Idempotency-Key"
	if values := c.Request.Header.Values(key); len(values) > 0 && values[0] == "" {
		return domain.Refuse(domain.ErrMalformed, "the header %s is empty", key).
			WithFix("give every request a key of its own, or leave the header out")
	}
	c.Key = c.header(key)
	if way := c.Request.Header.Get(redaction); way != "" && way != "refuse" {
		c.Found.Add(redaction, "must be refuse, or left out")
	}
	c.Origin = domain.Origin{
		RequestID:     c.ID,
		CorrelationID: c.header("Annals-Correlation-Id"),
		CausationID:   c.header("Annals-Causation-Id"),
		Host:          c.host(),
		Session:       c.header("Annals-Session"),
	}
	c.Principal.InSession = c.Request.Header.Get("Annals-Host")+c.Origin.Session != ""
	// The W3C recommendation requires that an invalid traceparent is ignored.
	if parent := c.Request.Header.Get("Traceparent"); len(parent) == 55 && printable(parent) {
		c.Origin.Traceparent = parent
	}
	return nil
}

// Submission prepares a command for the log. The body is a part of the fingerprint that identifies the request.
func (c *Call) Submission(command domain.Command) domain.Submission {
	submission := domain.Submission{
		Command: command, By: c.Principal, Origin: c.Origin, Whole: c.Request.Header.Get(redaction) != "",
	}
	if c.Key != "" {
		submission.Request = &domain.Request{Key: c.Key, Fingerprint: c.fingerprint()}
	}
	return submission
}

// fingerprint covers the method, the path, the caller, the parameters, the expected revision and the body. The body's
// spaces and the order of its fields do not count.
func (c *Call) fingerprint() domain.Fingerprint {
	r := c.Request
	outline := []string{r.Method, r.URL.Path, string(c.Principal.Subject), string(c.Principal.OnBehalfOf)}
	return domain.FingerprintOf(outline, r.URL.Query().Encode(), r.Header.Get("If-Match"), canonical(c.Sent))
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

// Target is the item a command is about.
func (c *Call) Target(id string, revisions []int64) domain.Target {
	return domain.Target{By: c.Principal, ID: id, Revisions: revisions}
}

// Etag is an item's revision as HTTP writes it.
func Etag(revision int64) string { return `"` + strconv.FormatInt(revision, 10) + `"` }

// TagsIn parses the entity tags of If-Match; false if the header holds anything else.
func TagsIn(header string) (list []string, ok bool) {
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

// ExpectedRevisions are the revisions that If-Match names: nil for any, empty if no tag can match.
func (c *Call) ExpectedRevisions() ([]int64, error) {
	header := strings.TrimSpace(strings.Join(c.Request.Header.Values("If-Match"), ","))
	if header == "" || header == "*" {
		return nil, nil
	}
	list, ok := TagsIn(header)
	if !ok {
		return nil, domain.Refuse(domain.ErrMalformed, "If-Match cannot be read").
			WithFix(`send the ETag as it came, such as "3" with its quotation marks`)
	}
	revisions := make([]int64, 0, len(list))
	for _, tag := range list {
		if revision, ok := Strong(tag); ok {
			revisions = append(revisions, revision)
		}
	}
	return revisions, nil
}

// Strong parses a revision from a strong tag of this server.
func Strong(tag string) (int64, bool) {
	number := strings.Trim(tag, `"`)
	revision, err := strconv.ParseInt(number, 10, 64)
	return revision, err == nil && revision > 0 && tag == Etag(revision)
}

// Submit submits a command and those that happen with it, unless it or the request is invalid. The error names every
// bad field.
func (c *Call) Submit(
	ctx context.Context, command domain.Command, invalid error, then ...domain.Command,
) (domain.Receipt, error) {
	if err := Merge(c.Found, invalid); err != nil {
		return domain.Receipt{}, err
	}
	submission := c.Submission(command)
	submission.Then = then
	return c.API.Writer.Submit(ctx, submission)
}

// Do submits a command as [Call.Submit] does.
func (c *Call) Do(ctx context.Context, command Validated, then ...domain.Command) (domain.Receipt, error) {
	return c.Submit(ctx, command, command.Validate(), then...)
}

// ReceiptHeader names the receipt of an answer. Of a write, it holds what to keep in order to ask for proof.
const ReceiptHeader = "Annals-Receipt"

type lookKey struct{}

// Looking is a context for requests of this process, and tells whether people only look at their answers: then no item
// of them counts as used.
func Looking(ctx context.Context, is bool) context.Context {
	return context.WithValue(ctx, lookKey{}, is)
}

// GivenIn is the kind of an answer in a context that gives items to the caller.
func GivenIn(ctx context.Context) domain.GivenKind {
	if is, _ := ctx.Value(lookKey{}).(bool); is {
		return domain.GivenLook
	}
	return domain.GivenUse
}

// Given is an answer to the caller, without items.
func (c *Call) Given(kind domain.GivenKind, status int) domain.Given {
	given := domain.GivenTo(c.Principal, c.Origin, kind, status, c.API.Now())
	given.Tenant, given.RequestID = cmp.Or(given.Tenant, domain.DefaultTenant), c.ID
	given.Route = c.Request.Method + " " + c.Route
	given.Host = cmp.Or(given.Host, c.host()) // a refused caller has no origin
	return given
}
