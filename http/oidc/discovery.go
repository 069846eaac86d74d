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
	// patience limits the time of an issuer's answer. Callers wait for it.
	patience = 5 * time.Second
	// pause is the time between two requests for the configuration of an issuer that does not answer.
	pause = 5 * time.Second
)

// Ready checks that the issuer's keys are available. The error matches [domain.ErrUnavailable].
func (i *Issuer) Ready(ctx context.Context) error {
	known, err := i.ready(ctx)
	if err == nil {
		err = known.failure()
	}
	return err
}

// Overheard tells whether requests to the issuer cross a network without TLS.
func (i *Issuer) Overheard() bool {
	u, err := url.Parse(i.cfg.Issuer)
	if err != nil || u.Scheme == "https" {
		return false
	}
	address, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() != "localhost" && (err != nil || !address.IsLoopback())
}

// ready is the issuer's key set, whose location is requested once. Concurrent callers share one request.
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
	case ctx.Err() == nil: // a request that its caller cancelled proves nothing
		i.failed, i.failedAt = err, i.cfg.Now()
	}
	return nil, errUnavailable(err)
}

func (i *Issuer) discover(ctx context.Context) (*keySet, error) {
	asking := oidc.ClientContext(ctx, &http.Client{Timeout: patience, Transport: withoutPages{i.hear}})
	provider, err := oidc.NewProvider(asking, i.cfg.Issuer)
	if err != nil {
		return nil, err
	}
	var says struct {
		KeysAt     string `json:"jwks_uri"`
		EndSession string `json:"end_session_endpoint"`
	}
	if err := provider.Claims(&says); err != nil {
		return nil, fmt.Errorf("read what the issuer says of itself: %w", err)
	}
	if says.KeysAt == "" {
		return nil, errors.New("the issuer does not say where its keys are (jwks_uri)")
	}
	known := newKeySet(says.KeysAt, i.hear, i.cfg.Now)
	known.endpoint, known.endSession = provider.Endpoint(), says.EndSession
	return known, nil
}

// errUnavailable is the error for callers while the issuer's keys are unavailable; why is only for the log. A
// cancelled request is not an error of the issuer.
func errUnavailable(why error) error {
	if errors.Is(why, context.Canceled) {
		return why
	}
	return fmt.Errorf("%w: %w", domain.Refuse(domain.ErrUnavailable, "the issuer of tokens cannot be asked for its keys").
		WithFix("try again in some seconds; the server's log says why. Keys of this server open it meanwhile"), why)
}
