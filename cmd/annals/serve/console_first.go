package serve

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/http/api"
	annalsclient "github.com/annals-kb/annals/http/client"
	httpkeys "github.com/annals-kb/annals/http/keys"
)

// firstAdmin makes the first key of a server without keys, for who has its link. The link is valid until there is a
// key, on all servers with the same signing key.
type firstAdmin struct {
	core  *core
	token string
}

func newFirstAdmin(c *core) (firstAdmin, error) {
	secret, err := c.key.Derive("annals first admin")
	if err != nil {
		return firstAdmin{}, fmt.Errorf("make the link for the first admin: %w", err)
	}
	return firstAdmin{c, hex.EncodeToString(secret[:16])}, nil
}

// link is the link for people, which names this machine if the server listens on all its addresses.
func (f firstAdmin) link(server string) string {
	address, err := url.Parse(server)
	if err != nil {
		return ""
	}
	if ip := net.ParseIP(address.Hostname()); ip != nil && ip.IsUnspecified() {
		address.Host = net.JoinHostPort("127.0.0.1", address.Port())
	}
	address.Path, address.Fragment = address.Path+consolePath+"first", "token="+f.token // which no browser sends
	return address.String()
}

// create makes the key of a user, which may do everything.
func (f firstAdmin) create(ctx context.Context, token, user string) (string, error) {
	refuse := func(status int, detail, fix string) error {
		return &annalsclient.Error{Problem: api.Problem{
			Status: status, Title: "The key is not made", Detail: detail, Fix: fix,
		}}
	}
	keyed, err := f.core.keys.Any(ctx)
	switch {
	case err != nil:
		return "", refuse(http.StatusServiceUnavailable, err.Error(), "")
	case keyed:
		return "", refuse(http.StatusGone, "there is a key already", "Log in with it, or ask an admin for one of your own.")
	case subtle.ConstantTimeCompare([]byte(token), []byte(f.token)) == 0:
		return "", refuse(http.StatusForbidden, "this is not the link that the server has printed",
			"Copy the whole of it.")
	}
	by := domain.SystemPrincipal()
	by.Tenant = domain.DefaultTenant
	prefix, key, hash := httpkeys.NewKey()
	subject := domain.Entity(domain.User + ":" + strings.TrimPrefix(user, domain.User+":"))
	command := domain.CreateKey{By: by, Prefix: prefix, Key: domain.KeyCreated{
		Hash: hash, Subject: subject, Role: domain.Root, Note: "the first",
	}}
	if err = command.Validate(time.Now()); err == nil {
		digest := sha256.Sum256([]byte(hash))
		once := domain.Request{Key: "first admin", Fingerprint: domain.Fingerprint{Whole: digest, Outline: digest}}
		_, err = events.NewScrubbingWriter(f.core.log, true).Submit(ctx, domain.Submission{
			By: by, Command: command, Request: &once, // of several at the same time, one is recorded
		})
	}
	switch {
	case errors.Is(err, domain.ErrKeyReused):
		return "", refuse(http.StatusGone, "somebody else has made the first key just now", "Ask them for one of your own.")
	case err != nil:
		return "", refuse(http.StatusUnprocessableEntity, err.Error(), "")
	}
	return key, nil
}
