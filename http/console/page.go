package console

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/serve"
)

// page is one page on its way to the browser. Its exported fields and methods are for templates.
type page struct {
	console *Console
	w       http.ResponseWriter
	r       *http.Request
	api     *client.Client

	Preferences
	Path     string // of the page, such as "/console/search"
	Query    url.Values
	Caller   *api.Identity // nil before the login
	Version  string
	Moment   moment
	TimeBar  *timeBar    // nil for now
	Acting   http.Header // as whom, and on whose behalf, the reader acts
	Requests []string    // what the page asked of the API, as commands for a terminal
	Now      time.Time
	Data     any                       // of the page's own
	redacts  string                    // what would be removed from the texts of the form that was sent
	removed  string                    // what scrubbing removed from what the OpenViking API wrote
	Secret   bool                      // it shows what no other page shows: no button leads away from it
	policies *api.VerificationPolicies // nil until they are asked for
}

// page prepares the page of a request, which may not be logged in.
func (c *Console) page(w http.ResponseWriter, r *http.Request) *page {
	p := &page{
		console: c, w: w, r: r.WithContext(serve.Looking(client.WithOuter(r.Context(), r), true)),
		api: c.cfg.API, Preferences: preferencesOf(r), Path: r.URL.Path, Query: r.URL.Query(), Version: c.cfg.Version,
		Now: time.Now(),
	}
	actAs(p, actingAs(r))
	return p
}

// open asks who the caller is, and which moment the page shows.
func (p *page) open() error {
	if err := whoami(p); err != nil {
		return err
	}
	if tooLarge, is := errors.AsType[*http.MaxBytesError](p.r.ParseForm()); is { // it would be taken as empty
		return &client.Error{Problem: api.Problem{
			Status: http.StatusRequestEntityTooLarge, Title: "Too large",
			Detail: "the form may have at most " + bytesOf(tooLarge.Limit),
		}}
	}
	err := p.readMoment()
	if err != nil {
		return noMoment(p, err)
	}
	p.readLine()
	if p.Moment.Past() && p.r.Method == http.MethodPost {
		return errPast
	}
	p.TimeBar, err = readTimeBar(p)
	return err
}

// get asks the API, and notes the request for the reader.
func (p *page) get(out any, query url.Values, path ...string) error {
	request := client.Request{Method: http.MethodGet, Path: path, Query: query}
	p.note(request)
	_, err := p.api.Do(p.r.Context(), request, out)
	return err
}

// Once is what tells a form that the page shows from all other forms.
func (p *page) Once() string { return rand.Text() }

// classNames are the words for what scrubbing removes, besides a tenant's own classes.
var classNames = map[string]string{
	"phone": "phone number", "email": "e-mail address", "cc": "card number", "api_key": "secret", "jwt": "secret",
	"private_key": "secret", "id_number": "identity number", "iban": "IBAN",
}

// Redacts is what the reader was told would be removed from the texts of the form.
func (p *page) Redacts() string { return cmp.Or(p.redacts, p.r.PostFormValue("redacts")) }

// classes says in words what is removed, by class.
func (p *page) classes(removed map[string]int) string {
	var classes []string
	for _, class := range slices.Sorted(maps.Keys(removed)) {
		name := say(p.Language, cmp.Or(classNames[class], class))
		classes = append(classes, fmt.Sprintf("%s: %d", name, removed[class]))
	}
	return strings.Join(classes, ", ")
}

// write asks the API for what a form says. The same form sent again, as by a double click, gets the same answer. What
// would be removed from its texts is shown before.
func (p *page) write(r client.Request, out any) (*client.Response, error) {
	body, err := json.Marshal(r.Body)
	if err != nil {
		return nil, err
	}
	header := http.Header{"Annals-Redaction": {"refuse"}}
	maps.Copy(header, r.Header)
	if once := p.r.PostFormValue("once"); once != "" {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %q %s %s", once, r.Method, r.Path, r.Query.Encode(), body))
		header.Set("Idempotency-Key", "console-"+hex.EncodeToString(sum[:]))
	}
	r.Header = header
	answer, err := p.api.Do(p.r.Context(), r, out)
	if refused, is := errors.AsType[*client.Error](err); is && refused.Redacted != nil {
		p.redacts = p.classes(refused.Redacted)
		if p.redacts == p.r.PostFormValue("redacts") {
			header.Del("Annals-Redaction")
			return p.api.Do(p.r.Context(), r, out)
		}
		refused.Detail, refused.Fix = p.redacts, "Send the form again to save it without that."
	}
	return answer, err
}

// note adds a request to those that the page shows.
func (p *page) note(r client.Request) {
	segments := make([]string, len(r.Path))
	for i, segment := range r.Path {
		segments[i] = url.PathEscape(segment)
	}
	address := p.Origin() + "/" + strings.Join(segments, "/")
	if len(r.Query) > 0 {
		address += "?" + r.Query.Encode()
	}
	command := "curl"
	if p.Caller != nil && !p.NoAuth() {
		command += ` -H "Authorization: Bearer $ANNALS_KEY"`
	}
	for _, name := range []string{actorHeader, onBehalfHeader} {
		if value := p.Acting.Get(name); value != "" {
			command = command + " -H " + quote(name+": "+value)
		}
	}
	if r.Body != nil {
		body, err := json.Marshal(r.Body)
		if err != nil {
			return
		}
		command += " --json " + quote(string(body))
	}
	p.Requests = append(p.Requests, command+" "+quote(address))
}

// quote quotes a word for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// param is a parameter of the page's address, without the spaces around it.
func (p *page) param(name string) string { return strings.TrimSpace(p.Query.Get(name)) }

// values are a parameter's values that are not empty.
func (p *page) values(name string) (values []string) {
	for _, value := range p.Query[name] {
		if value = strings.TrimSpace(value); value != "" {
			values = append(values, value)
		}
	}
	return values
}

// params are those of some parameters that have values, as the query of a request.
func (p *page) params(names ...string) url.Values {
	query := url.Values{}
	for _, name := range names {
		if values := p.values(name); values != nil {
			query[name] = values
		}
	}
	return query
}

// With is the page's address with other parameters: name, value, name, value … An empty value removes its name. The
// place within a list never stays.
func (p *page) With(changes ...string) string { return p.Path + encode(p.Query, changes...) }

// To is the address of another page at the same moment.
func (p *page) To(path string, changes ...string) string {
	return Root + path + encode(url.Values{"as_of": p.Query["as_of"]}, changes...)
}

func encode(query url.Values, changes ...string) string {
	changed := url.Values{}
	for name, values := range query {
		if len(values) > 0 && values[0] != "" && name != "cursor" {
			changed[name] = values
		}
	}
	for i := 0; i+1 < len(changes); i += 2 {
		changed.Del(changes[i])
		if changes[i+1] != "" {
			changed.Set(changes[i], changes[i+1])
		}
	}
	if len(changed) == 0 {
		return ""
	}
	return "?" + changed.Encode()
}

// Here tells whether the page is, or lies below, a path of the navigation.
func (p *page) Here(path string) bool {
	return p.Path == Root+path || path != "" && strings.HasPrefix(p.Path, Root+path+"/")
}

// In tells whether the page is, or lies below, one of several paths.
func (p *page) In(paths ...string) bool { return slices.ContainsFunc(paths, p.Here) }

// Narrowed tells whether the address has parameters besides moments and what the query line shows.
func (p *page) Narrowed() bool {
	shown := append(p.lineNames(), "q", "as_of", "vs")
	for name, values := range p.Query {
		if !slices.Contains(shown, name) && len(values) > 0 && values[0] != "" {
			return true
		}
	}
	return false
}

// Link is a text, or a mark of a name, that leads to a page of the console.
type Link struct {
	Text    any
	Address string
}

// Stream is a stream's title and its page. Only knowledge has one.
func (p *page) Stream(name string) Link {
	if id, is := domain.ItemOf(name); is {
		return Link{titled(id), p.To("k/" + url.PathEscape(id))}
	}
	if strings.HasPrefix(name, domain.ProposalStreams.Of("")) { // whose id nobody has given
		return Link{say(p.Language, "Review"), p.To("log", "stream", name)}
	}
	return Link{Text: who(name), Address: p.To("log", "stream", name)}
}

// Origin is the server's address as the browser knows it.
func (p *page) Origin() string { return cmp.Or(p.console.cfg.PublicURL, serve.AddressOf(p.r)) }

// openAuthentication is how the API calls callers in no-auth mode.
const openAuthentication = "open"

// NoAuth tells whether the server accepts every caller.
func (p *page) NoAuth() bool { return p.Caller != nil && p.Caller.Authentication == openAuthentication }

// CanLogOut tells whether the caller has a session.
func (p *page) CanLogOut() bool { return sessionOf(p.r) != "" && !p.NoAuth() }

// problem is why there is no page.
type problem struct {
	Status    int
	Title     string
	Detail    string
	Fix       string
	Fields    []api.BadField
	RequestID string
	Retry     time.Duration
	Kept      url.Values // what a form had that was sent in vain
	Files     bool       // it had files, too, which are lost
	LogIn     bool       // logging in may help
}

// keep shows what a form had, to send it again.
func (p *page) keep(why *problem) *problem {
	if p.r.Method == http.MethodPost {
		_ = p.r.PostFormValue("") // reads the form
		why.Kept, why.Files = p.r.PostForm, p.r.MultipartForm != nil && len(p.r.MultipartForm.File) > 0
	}
	return why
}

func problemOf(err error) *problem {
	if refusal, ok := errors.AsType[*client.Error](err); ok {
		detail := refusal.Detail
		if len(refusal.Errors)+len(refusal.Fields) > 0 {
			detail = "" // it says no more than the fields
		}
		return &problem{
			Status: cmp.Or(refusal.Status, http.StatusBadGateway), Title: refusal.Title, Detail: detail,
			Fix: refusal.Fix, Fields: slices.Concat(refusal.Errors, refusal.Fields), Retry: refusal.RetryAfter,
			RequestID: strings.TrimPrefix(refusal.Instance, "urn:annals:request:"),
		}
	}
	if errors.Is(err, context.Canceled) {
		return &problem{Status: statusClientClosed, Title: "The page could not be made", Detail: err.Error()}
	}
	return &problem{Status: http.StatusInternalServerError, Title: "The page could not be made", Detail: err.Error()}
}

// statusClientClosed appears in the log only: the browser has left, so there is no error of the server.
const statusClientClosed = 499

// fail answers with a problem. A script would put it into a part of the page, and what was typed there would be lost.
func (p *page) fail(why *problem) {
	p.Data = why
	switch {
	case p.param("step") == "near": // somebody is still typing
		p.w.Header().Set("HX-Reswap", "none")
	case p.r.Method == http.MethodPost:
		p.w.Header().Set("HX-Retarget", "#main")
		p.w.Header().Set("HX-Reselect", "#main")
	}
	if why.Retry > 0 {
		p.w.Header().Set("Retry-After", strconv.Itoa(int(why.Retry.Seconds()+1)))
	}
	p.render("problem", why.Status)
}

// unauthenticated is the problem of a write without a valid session.
var unauthenticated = api.Problem{
	Status: http.StatusUnauthorized, Title: "The session has ended", Fix: "Log in again.",
}

// notFound is the page of an unknown address.
func notFound(p *page) error {
	return &client.Error{Problem: api.Problem{
		Status: http.StatusNotFound, Title: "There is no such page", Detail: p.Path,
	}}
}
