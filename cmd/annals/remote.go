package main

import (
	"net/http"
	"net/url"
	"strings"
	"time"
)

// defaultServer is where serve serves unless told otherwise.
const defaultServer = "http://127.0.0.1:1933"

// remote are the flags of every command that talks to a server.
type remote struct {
	Server     string        `group:"server" default:"${server}" env:"ANNALS_SERVER" placeholder:"URL" help:"Where the server is: ${server} unless told."`
	APIKey     string        `name:"api-key" group:"server" env:"ANNALS_KEY" placeholder:"KEY" help:"The key that opens the server. Better in ANNALS_KEY than on a command line, which others can see."`
	Tenant     string        `field:"Annals-Tenant" group:"server" env:"ANNALS_TENANT" placeholder:"NAME" help:"For root: the tenant to act in; default unless told."`
	As         string        `field:"Annals-Actor" group:"server" env:"ANNALS_ACTOR" placeholder:"ENTITY" help:"Who acts, such as agent:crawler. A server in open mode believes it."`
	OnBehalfOf string        `field:"Annals-On-Behalf-Of" group:"server" env:"ANNALS_ON_BEHALF_OF" placeholder:"ENTITY" help:"For whom, such as user:123: it is their voice that counts."`
	Timeout    time.Duration `least:"1ms" group:"server" default:"30s" help:"How long to wait for an answer."`
}

// connect prepares a client. It talks to nobody yet.
func (r remote) connect() (*client, error) {
	base, err := url.Parse(r.Server)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, wrong("as in --server http://127.0.0.1:1933, or set ANNALS_SERVER", "the server's address must be an http:// or https:// URL")
	}
	header := http.Header{"User-Agent": {"annals/" + version().Version}}
	key := strings.TrimSpace(r.APIKey)
	if key != "" {
		key = "Bearer " + key
	}
	for _, h := range []struct{ name, value, what, as string }{
		{"Authorization", key, "a key", "set ANNALS_KEY to what annals key create has printed, and nothing else"},
		{"Annals-Tenant", r.Tenant, "a tenant's name", "as in --tenant acme"},
		{"Annals-Actor", r.As, "an entity's name", "as in --as user:123"},
		{"Annals-On-Behalf-Of", r.OnBehalfOf, "an entity's name", "as in --on-behalf-of user:123"},
	} {
		if strings.ContainsAny(h.value, "\r\n\x00") {
			return nil, wrong(h.as, "%s has no line breaks", h.what)
		}
		if h.value != "" {
			header.Set(h.name, h.value)
		}
	}
	return &client{base: base, header: header, timeout: r.Timeout, http: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// writing are the flags of every command that changes something.
type writing struct {
	remote

	IdempotencyKey string `field:"Idempotency-Key" group:"server" placeholder:"KEY" help:"The same command with the same key happens once, however often it is sent."`
}

// changing are the flags of the commands that change one piece of knowledge.
type changing struct {
	writing

	ID       string `complete:"ids" arg:"" help:"Which piece of knowledge."`
	Revision int64  `field:"If-Match" least:"1" placeholder:"N" help:"Refuse if somebody changed it since this revision."`
}
