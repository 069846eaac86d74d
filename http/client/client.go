package client

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/annals-kb/annals/http/api"
)

// Defaults of a [Config].
const (
	DefaultServer  = "http://127.0.0.1:1933"
	DefaultTimeout = 5 * time.Second
	DefaultRetries = 2
)

// Config names the server and the caller.
type Config struct {
	// Server is the server's address. Default: [DefaultServer].
	Server string
	// Key authenticates the caller. Empty for a server in no-auth mode.
	Key string
	// Tenant is the tenant that root acts in. Default: the tenant of the key.
	Tenant string
	// Actor is the caller, such as "agent:crawler". Only a server in no-auth mode accepts it.
	Actor string
	// OnBehalfOf is the entity to act for, such as "user:123". The key must allow it.
	OnBehalfOf string
	// Host is the program that asks, such as "claude-code/2.0", and Session the conversation in which it asks. The
	// receipts of answers name both.
	Host, Session string

	// Timeout limits a call with all of its retries. Default: [DefaultTimeout]. If it is negative, only the context
	// limits a call.
	Timeout time.Duration
	// Retries is how often to repeat a request that is safe to repeat. Default: [DefaultRetries]; negative for never.
	Retries int
	// Patience is how long to repeat a request instead, as the server asks, while the server is busy or away. Then the
	// Timeout limits each attempt. Default: 0, see Retries.
	Patience time.Duration
	// UpFor is how long a server that answered counts as available. Default: a minute. DownFor is how long
	// [Client.Available] does not ask a server that did not answer. Default: ten seconds.
	UpFor, DownFor time.Duration
	// Transport sends the requests. Default: one with the environment's proxies, except for this machine.
	Transport http.RoundTripper
	// Header is sent with every request.
	Header http.Header
	// Logger logs the failed requests of an [Agent] or a [Conversation], never what people wrote. Nil for no log.
	Logger *slog.Logger
}

// Client knows the requests of the API. It is safe for concurrent use.
type Client struct{ connection }

// connection sends requests to one server.
type connection struct {
	cfg    Config
	base   *url.URL
	header http.Header
	http   *http.Client
	health *health
}

// New prepares a client. It sends nothing yet.
func New(cfg Config) (*Client, error) {
	address, _, _ := strings.Cut(cmp.Or(cfg.Server, DefaultServer), "#")
	address, _, _ = strings.Cut(address, "?") // has no meaning before a path, and may hold a secret
	base, err := url.Parse(strings.TrimRight(address, "/"))
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, errors.New("the server's address must be an http:// or https:// URL")
	}
	cfg.Timeout = cmp.Or(cfg.Timeout, DefaultTimeout)
	cfg.Retries = cmp.Or(cfg.Retries, DefaultRetries)
	cfg.UpFor, cfg.DownFor = cmp.Or(cfg.UpFor, time.Minute), cmp.Or(cfg.DownFor, 10*time.Second)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Transport == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.MaxIdleConnsPerHost = 16
		cfg.Transport = transport
	}
	c := &Client{connection{
		cfg: cfg, base: base, header: http.Header{"User-Agent": {"annals-client"}}, health: &health{},
	}}
	maps.Copy(c.header, cfg.Header)
	authorization := ""
	if key := strings.TrimSpace(cfg.Key); key != "" {
		authorization = "Bearer " + key
	}
	for name, value := range map[string]string{
		"Authorization": authorization, "Annals-Tenant": cfg.Tenant, "Annals-Actor": cfg.Actor,
		"Annals-On-Behalf-Of": cfg.OnBehalfOf, "Annals-Host": cfg.Host, "Annals-Session": cfg.Session,
	} {
		if strings.ContainsAny(value, "\r\n\x00") {
			return nil, errors.New("keys and names must not contain line breaks")
		}
		if value != "" {
			c.header.Set(name, value)
		}
	}
	c.http = &http.Client{
		Transport:     cfg.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// Close closes idle connections.
func (c *connection) Close() { c.http.CloseIdleConnections() }

// With is the same client with additional headers, such as those of a forwarded request.
func (c *Client) With(header http.Header) *Client {
	other := *c
	other.header = c.header.Clone()
	maps.Copy(other.header, header)
	return &other
}

// Within is the same client with another time limit; 0 for no limit but the context's.
func (c *Client) Within(timeout time.Duration) *Client {
	other := *c
	other.cfg.Timeout = timeout
	return &other
}

// Patient is the same client with another [Config.Patience].
func (c *Client) Patient(patience time.Duration) *Client {
	other := *c
	other.cfg.Patience = patience
	return &other
}

// Server is the server's address.
func (c *connection) Server() string { return c.base.Redacted() }

// health caches whether the server answered.
type health struct {
	mu sync.Mutex
	up bool
	at time.Time // zero until the first answer
}

func (h *health) note(up bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.up, h.at = up, time.Now()
}

// known tells whether the server is available, if that is known.
func (h *health) known(upFor, downFor time.Duration) (up, known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	age := time.Since(h.at)
	return h.up, !h.at.IsZero() && (h.up && age < upFor || !h.up && age < downFor)
}

// Health asks whether the server is alive.
func (c *connection) Health(ctx context.Context) (api.Health, error) {
	var health api.Health
	_, err := c.Do(ctx, Request{Method: http.MethodGet, Path: []string{"healthz"}}, &health)
	return health, err
}

// Available tells whether the server answers. It asks only if there was no recent answer, so programs may call it
// before every request.
func (c *connection) Available(ctx context.Context) bool {
	if up, known := c.health.known(c.cfg.UpFor, c.cfg.DownFor); known {
		return up
	}
	eager := *c // a caller that can do without the memory should not wait
	eager.cfg.Retries = -1
	_, err := eager.Health(ctx)
	return err == nil
}

// Whoami returns the identity of the caller.
func (c *Client) Whoami(ctx context.Context) (Identity, error) {
	return get[Identity](ctx, c, nil, "v1", "whoami")
}

// Projections returns the progress of the server's projections.
func (c *Client) Projections(ctx context.Context) ([]Projection, error) {
	page, err := get[api.Projections](ctx, c, nil, "v1", "projections")
	return page.Items, err
}
