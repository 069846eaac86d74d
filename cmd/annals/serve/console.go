package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/http/console"
	httpkeys "github.com/annals-kb/annals/http/keys"
)

// consolePath is the path of the web console.
const consolePath = "/console/"

// consoling are the settings of the web console.
type consoling struct {
	// Console is on or off.
	Console string `group:"where" env:"ANNALS_CONSOLE" enum:"on,off" default:"on"`

	// TraceURL is the address of a trace, to which the pages of events lead.
	TraceURL string `group:"where" name:"trace-url" env:"ANNALS_TRACE_URL" placeholder:"URL"`
}

func (c consoling) hasConsole() bool { return c.Console == "on" }

func checkTraceURL(c Config) error {
	at, err := url.Parse(c.TraceURL)
	if c.TraceURL == "" ||
		err == nil && strings.HasPrefix(at.Scheme, "http") && strings.Contains(c.TraceURL, "{trace_id}") {
		return nil
	}
	return errors.New("trace-url (ANNALS_TRACE_URL) must begin with https:// and have {trace_id} in it")
}

// openConsole mounts the web console, and lets the server open login sessions. A session is valid on all servers with
// the same signing key.
func openConsole(_ context.Context, c *core) (part, error) {
	if !c.cfg.hasConsole() {
		return part{}, nil
	}
	sessionKey, err := c.key.Derive("annals login sessions")
	if err != nil {
		return part{}, fmt.Errorf("mount %s: %w", consolePath, err)
	}
	first, err := newFirstAdmin(c)
	if err != nil {
		return part{}, err
	}
	look := console.Config{
		API: c.inner, Version: terminal.Version().Version, PublicURL: c.cfg.PublicURL, Logger: c.logger, First: first.create,
		TraceURL: c.cfg.TraceURL,
		OpenSession: func(r *http.Request, key string) (token string, expires time.Time, err error) {
			return c.api.Callers.OpenSession(r, key)
		},
		OpenLogin: func(ctx context.Context, idToken string, ends time.Time) (string, time.Time, error) {
			return c.api.Callers.OpenLogin(ctx, idToken, ends)
		},
	}
	login := offered[provider](c)
	if login != nil {
		look.Provider, look.Redirect = login, login.Redirect()
	}
	pages := mountConsole(console.New(look))
	uploads := pages
	uploads.Paths, uploads.MaxBody = []string{console.Uploads}, console.MaxUpload
	uploads.Public = uploads.Paths
	return part{
		mounts: []annalshttp.Mount{pages, uploads}, pages: consolePath, invite: first.link,
		api: func(api *annalshttp.Config) {
			api.Home, api.Links, api.Callers.SessionKey = consolePath, consolePath+"k/", sessionKey
			if login != nil {
				api.Callers.Logins = login
			}
		},
	}, nil
}

// provider is where users log in besides keys.
type provider interface {
	console.Provider
	httpkeys.Tokens
	// Redirect is the address to which the provider leads back; empty for the usual one.
	Redirect() string
}

// mountConsole mounts the console for callers without a key, since it has a page to log in.
func mountConsole(pages *console.Console) annalshttp.Mount {
	paths := []string{"/console", consolePath}
	return annalshttp.Mount{Paths: paths, Public: paths, Handler: pages.Answer, Refuse: pages.Refuse}
}
