package oidc

import (
	"cmp"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// attemptLasts is how long a user may take to log in at the provider.
const attemptLasts = 5 * time.Minute

// ErrLogin says that a login at the provider did not succeed.
var ErrLogin = errors.New("the login at the provider did not succeed")

// Login lets users of browsers log in at the issuer: the authorization code flow of OpenID Connect, with PKCE
// (RFC 7636). It accepts only ID tokens for its client. It is safe for concurrent use.
type Login struct {
	*Issuer
	client, secret string
	sealer         cipher.AEAD
}

// Login makes a login for a client of the issuer. A public client has no secret. Only servers with the same key, of 32
// bytes, can finish what one of them began.
func (i *Issuer) Login(client, secret string, key []byte) (*Login, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	sealer, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	cfg := i.cfg
	cfg.Audience = client
	return &Login{Issuer: New(cfg), client: client, secret: secret, sealer: sealer}, nil
}

// attempt is what the browser keeps, sealed, while the user is at the provider.
type attempt struct {
	State, Nonce, Verifier string
	Next                   string // what the caller wants to know again
	Expires                time.Time
}

// Begin returns the address at which the provider logs a user in, and the sealed attempt, which the browser must send
// to the redirect address.
func (l *Login) Begin(ctx context.Context, redirect, next string) (address, sealed string, err error) {
	known, err := l.ready(ctx)
	if err != nil {
		return "", "", err
	}
	a := attempt{rand.Text(), rand.Text(), oauth2.GenerateVerifier(), next, l.cfg.Now().Add(attemptLasts)}
	content, err := json.Marshal(a)
	if err != nil {
		return "", "", err
	}
	address = l.config(known, redirect).AuthCodeURL(
		a.State, oauth2.S256ChallengeOption(a.Verifier), oauth2.SetAuthURLParam("nonce", a.Nonce),
	)
	return address, base64.RawURLEncoding.EncodeToString(l.sealer.Seal(nil, nil, content, nil)), nil
}

// Finish exchanges the code in the query of the redirect address for an ID token, which it verifies. next is what
// Begin was given. The error matches [ErrLogin], or [domain.ErrUnavailable].
func (l *Login) Finish(ctx context.Context, sealed, redirect string, query url.Values) (
	token string, expires time.Time, next string, err error,
) {
	refused := func(why string) (string, time.Time, string, error) {
		return "", time.Time{}, "", fmt.Errorf("%w: %s", ErrLogin, why)
	}
	a, opened := l.open(sealed)
	switch {
	case !opened:
		return refused("this browser did not begin it, or it took more than five minutes")
	case subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(a.State)) != 1:
		return refused("the state is that of another login")
	case cmp.Or(query.Get("iss"), l.cfg.Issuer) != l.cfg.Issuer: // RFC 9207
		return refused("another provider answered")
	case query.Get("code") == "":
		return refused("the provider gave no code")
	}
	known, err := l.ready(ctx)
	if err != nil {
		return "", expires, "", err
	}
	asking := context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Timeout: patience, Transport: l.hear})
	answer, err := l.config(known, redirect).Exchange(asking, query.Get("code"), oauth2.VerifierOption(a.Verifier))
	if refusal, is := errors.AsType[*oauth2.RetrieveError](err); is {
		return refused(fmt.Sprintf("the provider does not accept the code: %q", refusal.ErrorCode))
	} else if err != nil {
		return refused("the provider did not answer the code: " + err.Error())
	}
	token, _ = answer.Extra("id_token").(string)
	if _, err = l.Principal(ctx, token); err != nil {
		return "", expires, "", fmt.Errorf("%w: %w", ErrLogin, err)
	}
	var says struct {
		Nonce    string
		For      string   `json:"azp"`
		Audience audience `json:"aud"`
		End      float64  `json:"exp"`
	}
	switch {
	case !decoded(strings.Split(token, ".")[1], &says),
		subtle.ConstantTimeCompare([]byte(says.Nonce), []byte(a.Nonce)) != 1:
		return refused("the token is of another login")
	case cmp.Or(says.For, l.client) != l.client, says.For == "" && len(says.Audience) > 1:
		return refused("the token was given to another client")
	}
	return token, time.Unix(int64(says.End), 0).UTC(), a.Next, nil
}

func (l *Login) open(sealed string) (a attempt, ok bool) {
	content, err := base64.RawURLEncoding.Strict().DecodeString(sealed)
	if err == nil {
		content, err = l.sealer.Open(nil, nil, content, nil)
	}
	ok = err == nil && json.Unmarshal(content, &a) == nil && l.cfg.Now().Before(a.Expires)
	return a, ok
}

// End is the address at which the provider ends its own session and sends the browser back; empty if it has none.
func (l *Login) End(ctx context.Context, back string) string {
	known, err := l.ready(ctx)
	if err != nil {
		return ""
	}
	end, err := url.Parse(known.endSession)
	if err != nil || end.Scheme != "https" && end.Scheme != "http" {
		return ""
	}
	query := end.Query()
	query.Set("client_id", l.client)
	query.Set("post_logout_redirect_uri", back)
	end.RawQuery = query.Encode()
	return end.String()
}

func (l *Login) config(known *keySet, redirect string) *oauth2.Config {
	endpoint := known.endpoint
	if l.secret == "" {
		endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	return &oauth2.Config{
		ClientID: l.client, ClientSecret: l.secret, Endpoint: endpoint, RedirectURL: redirect,
		Scopes: []string{"openid", "profile", "email"},
	}
}
