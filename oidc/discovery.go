package oidc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/annals-kb/annals/domain"
)

const (
	// patience is how long the issuer may take for an answer. Callers wait meanwhile.
	patience = 5 * time.Second
	// pause is how long an issuer that does not say who it is is let alone.
	pause = 5 * time.Second
)

// Ready tells whether the issuer's keys can be had. The error matches [domain.ErrUnavailable].
func (i *Issuer) Ready(ctx context.Context) error {
	known, err := i.ready(ctx)
	if err == nil {
		err = known.failure()
	}
	return err
}

// Overheard tells whether the issuer is asked over a network without TLS.
func (i *Issuer) Overheard() bool {
	u, err := url.Parse(i.cfg.Issuer)
	if err != nil || u.Scheme == "https" {
		return false
	}
	address, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() != "localhost" && (err != nil || !address.IsLoopback())
}

// ready is where the issuer's keys are, which it says once. Whoever comes while it is asked waits for that answer,
// and asks for no other.
func (i *Issuer) ready(ctx context.Context) (*keySet, error) {
	if known := i.known.Load(); known != nil {
		return known, nil
	}
	select {
	case i.turn <- struct{}{}:
		defer func() { <-i.turn }()
	case <-ctx.Done():
		return nil, errUnavailable(ctx.Err())
	}
	if known := i.known.Load(); known != nil {
		return known, nil
	}
	if now := i.cfg.Now(); i.failed != nil && now.Sub(i.failedAt) < pause {
		return nil, errUnavailable(i.failed)
	}
	known, err := i.discover(ctx)
	switch {
	case err == nil:
		i.known.Store(known)
		return known, nil
	case ctx.Err() == nil: // a caller who left has found out nothing
		i.failed, i.failedAt = err, i.cfg.Now()
	}
	return nil, errUnavailable(err)
}

func (i *Issuer) discover(ctx context.Context) (*keySet, error) {
	asking := oidc.ClientContext(ctx, &http.Client{Timeout: patience, Transport: i.hear})
	provider, err := oidc.NewProvider(asking, i.cfg.Issuer)
	if err != nil {
		return nil, err
	}
	var says struct {
		KeysAt string `json:"jwks_uri"`
	}
	if err := provider.Claims(&says); err != nil {
		return nil, fmt.Errorf("read what the issuer says of itself: %w", err)
	}
	if says.KeysAt == "" {
		return nil, errors.New("the issuer does not say where its keys are (jwks_uri)")
	}
	return newKeySet(says.KeysAt, i.hear, i.cfg.Now), nil
}

// errUnavailable is what callers are told while the issuer cannot be asked; why is for the log. Those who left are told
// nothing.
func errUnavailable(why error) error {
	if errors.Is(why, context.Canceled) {
		return why
	}
	return fmt.Errorf("%w: %w", domain.Refuse(domain.ErrUnavailable, "the issuer of tokens cannot be asked for its keys").
		WithFix("try again in some seconds; the server's log says why. Keys of this server open it meanwhile"), why)
}
