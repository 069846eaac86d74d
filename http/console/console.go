// Package console is Annals in the browser: pages for auditors, owners of knowledge and operators. Each page is made
// from answers of the API alone, so the console can do nothing that the API does not allow its caller.
package console

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"github.com/annals-kb/annals/http/client"
)

// Root is the path that all pages lie below.
const Root = "/console/"

// Config configures a [Console].
type Config struct {
	// API receives the requests of the pages. Required.
	API *client.Client
	// OpenSession exchanges a key for a token that is valid at the API for some hours. Nil if API authenticates itself:
	// then there is no login.
	OpenSession func(r *http.Request, key string) (token string, expires time.Time, err error)
	// First makes the first key of a server, for a user who has the token of its link. Its errors are shown. Nil if
	// there is no such link.
	First func(ctx context.Context, token, user string) (key string, err error)
	// Provider logs users in besides keys. Nil if none does.
	Provider Provider
	// Redirect is the address of /console/login/oidc/callback that Provider knows. Default: below the origin of a request.
	Redirect string
	// OpenLogin exchanges an ID token of Provider, which ends at a time, for a token as that of OpenSession.
	OpenLogin func(ctx context.Context, idToken string, ends time.Time) (token string, expires time.Time, err error)
	// PublicURL is what the addresses of the server begin with. Default: the origin of a request.
	PublicURL string
	// TraceURL is the address of a trace, with {trace_id}. Empty to show none.
	TraceURL string
	// Version is shown on every page.
	Version string
	// Logger logs errors of the console, never what people wrote. Nil for no log.
	Logger *slog.Logger
}

// Provider is an OpenID provider at which users log in.
type Provider interface {
	// Begin returns the address to go to, and an attempt that the browser keeps. Finish returns next again.
	Begin(ctx context.Context, redirect, next string) (address, attempt string, err error)
	// Finish turns the query of the redirect address into an ID token.
	Finish(ctx context.Context, attempt, redirect string, query url.Values) (
		idToken string, ends time.Time, next string, err error,
	)
	// End is the address at which the provider ends its session; empty if it has none.
	End(ctx context.Context, back string) string
}

// Console answers browsers. It is safe for concurrent use.
type Console struct {
	cfg    Config
	routes *http.ServeMux
}

// New makes a console.
func New(cfg Config) *Console {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	c := &Console{cfg: cfg, routes: http.NewServeMux()}
	c.routes.HandleFunc("GET "+Root+"assets/{name}", compressed(loadedAssets().serve))
	c.routes.HandleFunc("GET "+Root+"manifest.webmanifest", loadedAssets().manifest)
	c.routes.HandleFunc("GET "+Root+"login", c.loginForm)
	c.routes.HandleFunc("POST "+Root+"login", c.login)
	c.routes.HandleFunc("POST "+Root+"logout", c.logout)
	if cfg.First != nil {
		c.routes.HandleFunc("GET "+Root+"first", c.showEmpty("first", first{}))
		c.routes.HandleFunc("POST "+Root+"first", c.makeFirst)
	}
	if cfg.OpenSession != nil {
		c.routes.HandleFunc("GET "+Root+"invited", c.showEmpty("invited", invited{}))
		c.routes.HandleFunc("POST "+Root+"invited", c.openInvited)
	}
	if cfg.Provider != nil {
		c.routes.HandleFunc("GET "+Root+"login/oidc", c.toProvider)
		c.routes.HandleFunc("GET "+Root+"login/oidc/callback", c.fromProvider)
	}
	c.routes.HandleFunc("POST "+Root+"preferences", c.savePreferences)
	c.routes.HandleFunc("GET "+Root+"export", c.export)
	c.routes.HandleFunc("GET "+Root+"data/{path...}", c.data)
	c.routes.HandleFunc("GET "+Root+"data/v1/events", c.stream)
	for pattern, route := range pages() {
		c.routes.HandleFunc(pattern, compressed(func(w http.ResponseWriter, r *http.Request) { c.show(w, r, route) }))
	}
	c.routes.HandleFunc("/", compressed(func(w http.ResponseWriter, r *http.Request) {
		c.show(w, r, route{"problem", func(p *page) (any, error) { return nil, notFound(p) }})
	}))
	return c
}

// compressed sends what h answers as gzip to browsers that take it. No other website can have a page sent with the
// reader's session (see setCookie), so the length of an answer tells nothing about what is on it.
func compressed(h http.HandlerFunc) http.HandlerFunc { return gzhttp.GzipHandler(h) }

// route is a page: its view, and what reads its data.
type route struct {
	view string
	read func(*page) (any, error)
}

// pages are all pages by their patterns.
func pages() map[string]route {
	return map[string]route{
		"GET " + Root + "{$}":               {"home", home},
		"GET " + Root + "search":            {"search", search},
		"GET " + Root + "ask":               {"search", toSearch}, // its earlier address
		"GET " + Root + "knowledge":         {"knowledge", listKnowledge},
		"GET " + Root + "remember":          {"remember", askRemember},
		"POST " + Root + "remember":         {"remember", remember},
		"GET " + Root + "scopes":            {"scopes", showScopes},
		"GET " + Root + "scopes/digest":     {"digest", showDigest},
		"GET " + Root + "scopes/policies":   {"policies", showPolicies},
		"POST " + Root + "scopes/policies":  {"policies", changePolicy},
		"GET " + Root + "review":            {"review", readReview},
		"POST " + Root + "review":           {"review", doReview},
		"GET " + Root + "log":               {"log", readLog},
		"GET " + Root + "log/{id}":          {"event", readEvent},
		"GET " + Root + "proof":             {"proof", readProof},
		"GET " + Root + "receipts":          {"receipts", listReceipts},   // part: receipts
		"GET " + Root + "receipts/evidence": {"receipts", exportEvidence}, // part: receipts
		"GET " + Root + "receipts/{id}":     {"receipt", showReceipt},     // part: receipts
		"GET " + Root + "health":            {"health", readHealth},

		"GET " + Root + "containments":       {"containments", listContainments}, // part: contain
		"POST " + Root + "containments":      {"contain", contain},               // part: contain
		"GET " + Root + "containments/{id}":  {"containment", showContainment},   // part: contain
		"POST " + Root + "containments/{id}": {"containment", doContainment},     // part: contain
		"GET " + Root + "k/{id}/act/contain": {"contain", askContain},            // part: contain

		"GET " + Root + "knowledge/acts":  {"many", askMany},
		"POST " + Root + "knowledge/acts": {"many", doMany},

		"GET " + Root + "k/{id}":            {"item", showItem},
		"GET " + Root + "k/{id}/{tab}":      {"item", showItem},
		"GET " + Root + "k/{id}/act/{act}":  {"act", askAct},
		"POST " + Root + "k/{id}/act/{act}": {"act", doAct},
		"POST " + Root + "k/{id}/vote":      {"vote", vote},
		"GET " + Root + "k/{id}/act/erase":  {"plan", planItem},
		"POST " + Root + "k/{id}/act/erase": {"plan", planItem},

		"GET " + Root + "reports":            {"reports", listReports},
		"GET " + Root + "reports/known":      {"knownday", showKnownDay},
		"GET " + Root + "reports/known/file": {"knownday", downloadKnownDay},
		"GET " + Root + "reports/{name}":     {"report", readReport},
		"GET " + Root + "reports/{name}/csv": {"report", exportReport},

		"GET " + Root + "acting":  {"acting", askActing},
		"POST " + Root + "acting": {"acting", chooseActing},

		"GET " + Root + "access":                 {"access", showAccess},
		"POST " + Root + "access":                {"access", createKey},
		"GET " + Root + "access/invite":          {"invite", askInvitation},
		"POST " + Root + "access/invite":         {"invite", invite},
		"GET " + Root + "access/tenants":         {"tenants", showTenants},
		"POST " + Root + "access/tenants":        {"tenants", createTenant},
		"GET " + Root + "access/{prefix}/{act}":  {"keyact", askKeyAct},
		"POST " + Root + "access/{prefix}/{act}": {"keyact", doKeyAct},

		"GET " + Root + "people":                 {"people", showPeople},
		"POST " + Root + "people":                {"people", addMember},
		"GET " + Root + "people/import":          {"peopleimport", askImport},
		"POST " + Root + "people/import":         {"peopleimport", importPeople},
		"GET " + Root + "people/known":           {"known", showKnown},
		"GET " + Root + "people/{entity}":        {"person", showPerson},
		"GET " + Root + "people/{entity}/{act}":  {"personact", askPersonAct},
		"POST " + Root + "people/{entity}/{act}": {"personact", doPersonAct},

		"GET " + Root + "teams":         {"team", showMyTeam},
		"GET " + Root + "teams/{group}": {"team", showTeam},

		"GET " + Root + "subscriptions":       {"subscriptions", showSubscriptions},
		"POST " + Root + "subscriptions":      {"subscriptions", subscribe},
		"GET " + Root + "subscriptions/{id}":  {"subscription", showSubscription},
		"POST " + Root + "subscriptions/{id}": {"subscription", doSubscription},

		"GET " + Uploads:              {"resources", showPlaces},
		"POST " + Uploads:             {"resources", addResource},
		"POST " + Uploads + "/remove": {"resources", removeResource},

		"GET " + Root + "see-as":         {"seeas", showAs},
		"GET " + Root + "sessions":       {"sessions", listSessions},
		"GET " + Root + "sessions/{id}":  {"session", readSession},
		"POST " + Root + "sessions/{id}": {"session", retryExtraction},

		"GET " + Root + "privacy":                  {"privacy", showPrivacy},
		"GET " + Root + "privacy/plan":             {"plan", planErasure},
		"POST " + Root + "privacy/plan":            {"plan", orderErasure},
		"GET " + Root + "privacy/{id}":             {"erasure", showErasure},
		"GET " + Root + "privacy/{id}/certificate": {"erasure", downloadErasure},

		"GET " + Root + "settings":  {"settings", showSettings},
		"POST " + Root + "settings": {"settings", testSettings},

		"GET " + Root + "projections":                   {"projections", listProjections},
		"GET " + Root + "projections/{name}":            {"projection", readProjection},
		"GET " + Root + "projections/{name}/quarantine": {"quarantine", readQuarantine},
		"GET " + Root + "projections/{name}/act/{act}":  {"operate", askOperation},
		"POST " + Root + "projections/{name}/act/{act}": {"operate", doOperation},
	}
}

// contentPolicy lets a page load its own scripts, styles and images, and nothing else. Scripts cannot write HTML into
// the page, except for htmx, which parses the answers of this server.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types htmx"

// Answer answers a request below [Root].
func (c *Console) Answer(w http.ResponseWriter, r *http.Request) error {
	c.ServeHTTP(w, r)
	return nil
}

func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if r.URL.Path+"/" == Root {
		http.Redirect(w, r, Root, http.StatusSeeOther)
		return
	}
	c.routes.ServeHTTP(w, r)
}

// Refuse answers an error from before a page was asked.
func (c *Console) Refuse(w http.ResponseWriter, r *http.Request, status int, err error) {
	w.Header().Set("Content-Security-Policy", contentPolicy)
	p := c.page(w, r)
	p.fail(&problem{Status: status, Title: http.StatusText(status), Detail: err.Error()})
}

// show answers with a page.
func (c *Console) show(w http.ResponseWriter, r *http.Request, route route) {
	p := c.page(w, r)
	err := p.open()
	if err == nil {
		p.Data, err = route.read(p)
	}
	switch {
	case errors.Is(err, errAnswered):
	case errors.Is(err, client.ErrUnauthenticated) && c.cfg.OpenSession != nil:
		p.toLogin()
	case err != nil:
		p.fail(p.keep(problemOf(err)))
	default:
		p.render(route.view, http.StatusOK)
	}
}

// errAnswered says that a page has answered by itself, such as with a redirect.
var errAnswered = errors.New("answered")

// render writes a page, or a problem if its template fails.
func (p *page) render(view string, status int) {
	var out bytes.Buffer
	p.Secret = status == http.StatusCreated
	if err := parsedViews()[p.Language][view].ExecuteTemplate(&out, "page", p); err != nil {
		p.console.cfg.Logger.ErrorContext(p.r.Context(), "render page", "view", view, "error", err)
		http.Error(p.w, "The page could not be made.", http.StatusInternalServerError)
		return
	}
	p.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	p.w.WriteHeader(status)
	_, _ = p.w.Write(marked(p.named(out.Bytes()))) // the browser may have left
}
