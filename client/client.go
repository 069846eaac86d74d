package client

import (
	"cmp"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Defaults of a [Config].
const (
	DefaultServer  = "http://127.0.0.1:1933"
	DefaultTimeout = 5 * time.Second
	DefaultRetries = 2
)

// Config says where the server is, and who is calling.
type Config struct {
	// Server is the server's address. Empty for [DefaultServer].
	Server string
	// Key opens the server. Empty for a server in open mode.
	Key string
	// Tenant is the one to act in, for root. Empty for the key's own.
	Tenant string
	// Actor is who acts, such as "agent:crawler". Only a server in open mode believes it.
	Actor string
	// OnBehalfOf is for whom, such as "user:123". The key must allow it.
	OnBehalfOf string

	// Timeout is how long a call may take, all of its tries together. 0 for [DefaultTimeout]; less than 0 for no limit but the context's.
	Timeout time.Duration
	// Retries is how often what can be sent again is sent again. 0 for [DefaultRetries]; less than 0 for never.
	Retries int
	// UpFor is how long a server that answered is taken to be there, and DownFor how long one that did not is left
	// alone by [Client.Available]. 0 for a minute, and for ten seconds.
	UpFor, DownFor time.Duration
	// Transport carries the requests. Nil for one that goes through the environment's proxies, except to this machine.
	Transport http.RoundTripper
	// Header goes with every request.
	Header http.Header
	// Logger hears what an [Agent] or a [Conversation] had to do without. Never what people wrote. Nil for no log.
	Logger *slog.Logger
}

// Client speaks to one server. It is safe for concurrent use.
type Client struct {
	cfg    Config
	base   *url.URL
	header http.Header
	http   *http.Client
	health *health
}

// New prepares a client. It talks to nobody yet.
func New(cfg Config) (*Client, error) {
	base, err := url.Parse(strings.TrimRight(cmp.Or(cfg.Server, DefaultServer), "/"))
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, errors.New("the server's address must be an http:// or https:// URL")
	}
	cfg.Timeout = cmp.Or(cfg.Timeout, DefaultTimeout)
	cfg.Retries = cmp.Or(cfg.Retries, DefaultRetries)
	cfg.UpFor, cfg.DownFor = cmp.Or(cfg.UpFor, time.Minute), cmp.Or(cfg.DownFor, 10*time.Second)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	c := &Client{cfg: cfg, base: base, header: http.Header{"User-Agent": {"annals-client"}}, health: &health{}}
	maps.Copy(c.header, cfg.Header)
	for name, value := range map[string]string{
		"Authorization": bearer(cfg.Key), "Annals-Tenant": cfg.Tenant, "Annals-Actor": cfg.Actor, "Annals-On-Behalf-Of": cfg.OnBehalfOf,
	} {
		if strings.ContainsAny(value, "\r\n\x00") {
			return nil, errors.New("neither a key nor a name has line breaks")
		}
		if value != "" {
			c.header.Set(name, value)
		}
	}
	transport := cfg.Transport
	if transport == nil {
		transport = direct()
	}
	c.http = &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// Close gives connections back that nobody uses any more.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// With is the same client with other headers, for whoever passes on what others ask.
func (c *Client) With(header http.Header) *Client {
	other := *c
	other.header = c.header.Clone()
	maps.Copy(other.header, header)
	return &other
}

// Server is the server's address.
func (c *Client) Server() string { return c.base.Redacted() }

func bearer(key string) string {
	if key = strings.TrimSpace(key); key == "" {
		return ""
	}
	return "Bearer " + key
}

// direct is a transport that reaches this machine without a proxy, whatever the environment says: proxies that
// people run for their browser would swallow what stays here.
func direct() *http.Transport {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	transport.Proxy = func(r *http.Request) (*url.URL, error) {
		if loopback(r.URL.Hostname()) {
			return nil, nil
		}
		return http.ProxyFromEnvironment(r)
	}
	return transport
}

func loopback(host string) bool {
	if address, err := netip.ParseAddr(host); err == nil {
		return address.IsLoopback()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}
