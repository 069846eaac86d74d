package terminal

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// DefaultServer is the default address of a server.
const DefaultServer = "http://127.0.0.1:1933"

// Remote are the flags of every command that talks to a server.
type Remote struct {
	Server     string        `group:"server" default:"${server}" env:"ANNALS_SERVER" placeholder:"URL"`
	APIKey     string        `name:"api-key" group:"server" env:"ANNALS_KEY" placeholder:"KEY"`
	Tenant     string        `field:"Annals-Tenant" group:"server" env:"ANNALS_TENANT" placeholder:"NAME"`
	As         string        `field:"Annals-Actor" group:"server" env:"ANNALS_ACTOR" placeholder:"ENTITY"`
	OnBehalfOf string        `field:"Annals-On-Behalf-Of" group:"server" env:"ANNALS_ON_BEHALF_OF" placeholder:"ENTITY"`
	Timeout    time.Duration `least:"1ms" group:"server" default:"30s"`

	Retries  int           `kong:"-"` // as in [client.Config]; 0 for none
	Patience time.Duration `kong:"-"` // as in [client.Config]
}

// KeepKey takes the key that was stored for the origin of the server. If there are keys for others alone, it returns a
// warning. A key in the configuration file is for the server there, or for [DefaultServer]. One in the environment is
// for the server there or in the file; without both it is for any server. It also notes whether a server is named.
func (c *Console) KeepKey(parsed *kong.Context) (warning string) {
	flags := map[string]*kong.Flag{}
	for _, flag := range parsed.Flags() {
		flags[flag.Name] = flag
	}
	server, key := flags["server"], flags["api-key"]
	if server == nil || key == nil {
		return ""
	}
	inFile, inVariable, called := c.Settings.Values["server"], VariableOf(server), server.Target.String()
	c.Named = inFile != "" || inVariable != "" || OnCommandLine(parsed, "server")
	if OnCommandLine(parsed, "api-key") {
		return ""
	}
	key.Target.SetString("")
	for _, stored := range []struct{ where, key, owner string }{
		{VariableOf(key), os.Getenv(VariableOf(key)), cmp.Or(os.Getenv(inVariable), inFile, called)},
		{c.Settings.File, c.Settings.Values["api-key"], cmp.Or(inFile, DefaultServer)},
	} {
		switch {
		case stored.key == "":
		case origin(stored.owner) == origin(called):
			key.Target.SetString(stored.key)
			return ""
		case warning == "":
			warning = fmt.Sprintf("the key in %s is for %s and is not sent to %s; --api-key names another",
				stored.where, stored.owner, called)
		}
	}
	return warning
}

func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

// Connect prepares a client. It sends nothing yet.
func (r Remote) Connect() (*client.Client, error) { return r.Through(nil) }

// Answer sends a request and decodes the answer into out. With --json it prints the answer as JSON, otherwise by
// show, after saying so if the request changed nothing.
func (r Remote) Answer(ctx context.Context, c *Console, q client.Request, out any, show func() error) error {
	server, err := r.Connect()
	if err != nil {
		return err
	}
	a, err := server.Do(ctx, q, out)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(a.Body)
	}
	if a.Header.Get("Annals-Outcome") == domain.Unchanged {
		c.Say("nothing to change")
	}
	return show()
}

// Through prepares a client with a transport; nil for the network.
func (r Remote) Through(transport http.RoundTripper) (*client.Client, error) {
	for _, name := range []struct{ value, what, as string }{
		{strings.TrimSpace(r.APIKey), "a key", "set ANNALS_KEY to what annals key create has printed, and nothing else"},
		{r.Tenant, "a tenant's name", "as in --tenant acme"},
		{r.As, "an entity's name", "as in --as user:123"},
		{r.OnBehalfOf, "an entity's name", "as in --on-behalf-of user:123"},
	} {
		if strings.ContainsAny(name.value, "\r\n\x00") {
			return nil, Wrong(name.as, "%s has no line breaks", name.what)
		}
	}
	server, err := client.New(client.Config{
		Server: r.Server, Key: r.APIKey, Tenant: r.Tenant, Actor: r.As, OnBehalfOf: r.OnBehalfOf, Timeout: r.Timeout,
		Retries: cmp.Or(r.Retries, -1), Patience: r.Patience,
		Transport: transport, Header: http.Header{"User-Agent": {"annals/" + Version().Version}},
	})
	if err != nil {
		return nil, Wrong("as in --server http://127.0.0.1:1933, or set ANNALS_SERVER", "%s", err)
	}
	return server, nil
}

// LargestPage is the largest page of a list.
const LargestPage = 500

// ReadList reads a whole list.
func ReadList[T any](ctx context.Context, server *client.Client, path []string, query url.Values) ([]T, error) {
	items := []T{}
	for page, err := range client.Pages[T](ctx, server, path, query) {
		if err != nil {
			return nil, err
		}
		items = append(items, page.Items...)
	}
	return items, nil
}

// ReadFirst reads the first items of a list, and returns the cursor after them.
func ReadFirst[T any](
	ctx context.Context, server *client.Client, path []string, query url.Values, limit int,
) (all api.Page[T], err error) {
	if limit < 1 { // an empty list would look as if there were nothing
		return all, Wrong("as in --limit 20", "--limit must be 1 or more, and is %d", limit)
	}
	all.Items = []T{}
	for {
		query.Set("limit", strconv.Itoa(min(limit-len(all.Items), LargestPage)))
		var page api.Page[T]
		if _, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: path, Query: query}, &page); err != nil {
			return all, err
		}
		all.Items, all.NextCursor = append(all.Items, page.Items...), page.NextCursor
		if page.NextCursor == "" || len(all.Items) >= limit {
			return all, nil
		}
		query.Set("cursor", page.NextCursor)
	}
}

// Writing are the flags of the commands that change something.
type Writing struct {
	Remote

	IdempotencyKey string `field:"Idempotency-Key" group:"server" placeholder:"KEY"`
}

// Header has the idempotency key and the expected revision of a write.
func (w Writing) Header(revision int64) http.Header {
	header := http.Header{}
	if w.IdempotencyKey != "" {
		header.Set("Idempotency-Key", w.IdempotencyKey)
	}
	if revision != 0 {
		header.Set("If-Match", `"`+strconv.FormatInt(revision, 10)+`"`)
	}
	return header
}

// AsOfFlag is the flag of the commands that can read the past.
type AsOfFlag struct {
	AsOf string `group:"past" name:"as-of" placeholder:"WHEN"`
}

// AsOfParameter is the time as a query parameter; empty for now.
func (h AsOfFlag) AsOfParameter() (string, error) { return ThroughOf("as-of", h.AsOf) }
