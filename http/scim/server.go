// Package scim lets identity providers keep the directory, by SCIM 2.0 (RFC 7643, RFC 7644) as Microsoft Entra ID and
// Okta speak it. A User is a user of the directory, a Group is a project, a team or an organisation. Their ids are the
// names of the entities, such as user:mia.
package scim

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/people"
	"github.com/annals-kb/annals/http/serve"
)

// Path is the path below which the server answers.
const Path = "/scim/v2/"

// MaxBody is the largest size of a body: a group with all of its members.
const MaxBody = 8 << 20

// Server answers identity providers. All but PublicURL is required. It is safe for concurrent use.
type Server struct {
	Writer    serve.Writer
	Directory people.Directory
	Keys      people.Keys
	// PublicURL is what the addresses of resources begin with. Default: the address that the caller used.
	PublicURL string
}

//go:embed discovery.json
var discovery []byte

// documents describe what the server can do, by their names in addresses.
var documents = sync.OnceValues(func() (all map[string]any, err error) {
	err = json.Unmarshal(discovery, &all)
	return all, err
})

// call is one request.
type call struct {
	context.Context
	w      http.ResponseWriter
	r      *http.Request
	by     domain.Principal
	origin domain.Origin
	base   string // what addresses begin with
	id     string // of the path; empty for none
}

// Answer answers a request whose context names the caller. The error is for Refuse.
func (s Server) Answer(w http.ResponseWriter, r *http.Request) error {
	name, id, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, Path), "/")
	by, origin := domain.CallerOf(r.Context())
	c := &call{r.Context(), w, r, by, origin, cmp.Or(s.PublicURL, serve.AddressOf(r)), id}
	known, err := documents()
	if err != nil {
		return err
	}
	k, method := kinds[name], r.Method
	if id != "" {
		method += " one"
	}
	switch {
	case !by.IsTenantAdmin():
		return domain.Refuse(domain.ErrForbidden, "identity providers need the key of an admin")
	case method == "GET" && known[name] != nil:
		return c.send(http.StatusOK, known[name])
	case k == nil:
	case method == "GET":
		return s.list(c, k)
	case method == "GET one":
		return s.show(c, k, http.StatusOK)
	case method == "POST", method == "PUT one", method == "PATCH one":
		return s.change(c, k)
	case method == "DELETE one":
		return s.remove(c, k)
	}
	return domain.Refuse(domain.ErrNotFound, "there is nothing at this path, or not with this method")
}

func (c *call) send(status int, body any) error {
	c.w.Header().Set("Content-Type", "application/scim+json")
	c.w.WriteHeader(status)
	_ = json.NewEncoder(c.w).Encode(body) // an error is ignored: the caller has left
	return nil
}

// read reads the body's JSON object.
func (c *call) read(into any) error {
	err := json.NewDecoder(c.r.Body).Decode(into)
	if tooLarge, is := errors.AsType[*http.MaxBytesError](err); is {
		return domain.Refuse(domain.ErrTooLarge, "a body may have at most %d bytes here", tooLarge.Limit)
	} else if err != nil {
		return word("invalidSyntax").is("the body must be a JSON object in the form of SCIM")
	}
	return nil
}

// word is SCIM's for what a provider sent wrongly.
type word string

func (w word) Error() string { return string(w) }
func (word) Unwrap() error   { return domain.ErrMalformed }

func (w word) is(format string, values ...any) error { return domain.Refuse(w, format, values...) }

// Refuse answers with an error, in the form of SCIM. Status is that of the server's own answer.
func (Server) Refuse(w http.ResponseWriter, _ *http.Request, status int, err error) {
	body := map[string]any{"schemas": []string{"urn:ietf:params:scim:api:messages:2.0:Error"}}
	problem := serve.ProblemOf(err, "")
	body["detail"] = cmp.Or(problem.Detail, problem.Title)
	if w, is := errors.AsType[word](err); is {
		body["scimType"] = w
	} else if errors.Is(err, domain.ErrTaken) {
		body["scimType"] = "uniqueness"
	} else if errors.Is(err, domain.ErrInvalid) {
		status, body["scimType"], body["detail"] = http.StatusBadRequest, "invalidValue", err.Error()
	}
	body["status"] = strconv.Itoa(status)
	_ = (&call{w: w}).send(status, body)
}
