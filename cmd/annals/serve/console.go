package serve

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/annals-kb/annals/events/proof"
	annalshttp "github.com/annals-kb/annals/http"
	annalsclient "github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/console"
	"github.com/annals-kb/annals/http/viking"
)

// consolePath is the path of the web console.
const consolePath = "/console/"

// addConsole mounts the web console, and lets the server open login sessions. A session is valid on all servers with
// the same signing key.
func (s *Service) addConsole(
	api *annalshttp.Config, inner *annalsclient.Client, key proof.Key, issuer tokens,
) (err error) {
	if api.Callers.SessionKey, err = key.Derive("annals login sessions"); err != nil {
		return fmt.Errorf("mount %s: %w", consolePath, err)
	}
	api.Home, api.Links = consolePath, consolePath+"k/"
	look := console.Config{
		API: inner, Version: api.Version, PublicURL: api.PublicURL, Logger: s.logger, Redirect: issuer.Redirect,
		OpenSession: func(r *http.Request, key string) (token string, expires time.Time, err error) {
			return s.API.Callers.OpenSession(r, key)
		},
		OpenLogin: func(ctx context.Context, idToken string, ends time.Time) (string, time.Time, error) {
			return s.API.Callers.OpenLogin(ctx, idToken, ends)
		},
	}
	if s.first, err = newFirstAdmin(s, key); err != nil {
		return err
	}
	look.First = s.first.create
	login, err := issuer.login(s.issuer, key)
	if err != nil {
		return fmt.Errorf("let users log in at the issuer: %w", err)
	}
	if login != nil {
		look.Provider, api.Callers.Logins = login, login
	}
	pages := mountConsole(console.New(look))
	uploads := pages
	uploads.Paths, uploads.MaxBody = []string{console.Uploads}, viking.MaxBody
	uploads.Public = uploads.Paths
	api.Mounts = append(api.Mounts, pages, uploads)
	return nil
}

// mountConsole mounts the console for callers without a key, since it has a page to log in.
func mountConsole(pages *console.Console) annalshttp.Mount {
	paths := []string{"/console", consolePath}
	return annalshttp.Mount{Paths: paths, Public: paths, Handler: pages.Answer, Refuse: pages.Refuse}
}

// insideClient makes requests to the API of this process. They have the time limit of the outer request and are not
// repeated.
func insideClient(api http.HandlerFunc) (*annalsclient.Client, error) {
	return annalsclient.New(annalsclient.Config{Transport: annalsclient.Inside(api), Timeout: -1, Retries: -1})
}
