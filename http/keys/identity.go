package keys

import (
	"cmp"
	"context"
	"crypto/cipher"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/people"
	"github.com/annals-kb/annals/http/serve"
)

// Config is what callers are identified by.
type Config struct {
	RootKey    string           // valid for everything in every tenant; empty for none
	Keys       Keyring          // nil if there are no keys
	Directory  people.Directory // nil for a server without a directory
	Tokens     Tokens           // nil if no issuer's tokens are accepted
	Logins     Tokens           // nil if sessions hold no ID tokens
	SessionKey []byte           // seals session tokens; nil for no sessions
	Now        func() time.Time
}

// Keyring finds the holders of keys, and tenants.
type Keyring interface {
	// Key finds a key by its prefix. The error matches domain.ErrNotFound if there is none.
	Key(ctx context.Context, prefix string) (tenant string, key domain.Key, err error)
	// Any tells whether a key was ever issued.
	Any(ctx context.Context) (bool, error)
	// Issued lists the issued keys of a tenant.
	Issued(ctx context.Context, tenant string) ([]domain.IssuedKey, error)
	// Used notes that a key was used.
	Used(tenant, prefix string, at time.Time)
	// Tenants lists the tenants by name.
	Tenants(ctx context.Context) ([]domain.NamedTenant, error)
	// HasTenant tells whether a tenant of this name exists.
	HasTenant(ctx context.Context, name string) (bool, error)
	// Lives tells whether a tenant of this name exists and was not erased.
	Lives(ctx context.Context, tenant string) (bool, error)
}

// Tokens finds the holders of an issuer's tokens.
type Tokens interface {
	// Principal is the holder of the token. The error matches domain.ErrUnauthenticated if the token is not valid.
	Principal(ctx context.Context, token string) (domain.Principal, error)
}

// Identities identifies callers. It is safe for concurrent use.
type Identities struct {
	Config
	throttle *loginThrottle
	sealer   cipher.AEAD // of session tokens; nil if there are none
}

// New makes the identities of a server.
func New(cfg Config) Identities {
	return Identities{cfg, newLoginThrottle(), newSealer(cfg.SessionKey)}
}

// Identify authenticates the caller in the same way for all surfaces.
func (s Identities) Identify(r *http.Request) (domain.Principal, error) {
	p, err := s.fromCredentials(r)
	if err != nil {
		return p, err
	}
	if p, err = s.withVikingHeaders(r, p); err != nil {
		return p, err
	}
	if p, err = s.withDirectory(r.Context(), p); err != nil {
		return p, err
	}
	return p, domain.CheckActsFor(p)
}

// withDirectory applies to p what the directory says now. The groups of the caller count besides those of its key or
// token, of which deactivated ones do not count. A caller that acts for a member has that member's groups and no
// others.
func (s Identities) withDirectory(ctx context.Context, p domain.Principal) (domain.Principal, error) {
	if s.Directory == nil || p.Tenant == domain.SystemTenant || p.IsOperator() { // whom no group gives more
		return p, nil
	}
	for _, e := range slices.Compact([]domain.Entity{p.Subject, p.EffectiveSubject()}) {
		of, err := s.Directory.Belongings(ctx, p.Tenant, e, p.Memberships)
		entry, over := of.Entry, func(group domain.Entity) bool { return slices.Contains(of.Over, group) }
		p.Memberships = slices.DeleteFunc(slices.Clone(p.Memberships), over)
		switch {
		case err != nil:
			return p, err
		case !entry.DeactivatedAt.IsZero() && !p.CrossesTenants():
			return p, domain.Refuse(domain.ErrUnauthenticated, "%s was deactivated", e).WithFix("ask an admin")
		case e == p.Subject && entry.Revoked(p.KeyCreated) && !p.CrossesTenants():
			return p, domain.Refuse(domain.ErrUnauthenticated, "the key was revoked when %s was deactivated", e).
				WithFix("ask an admin for another")
		case e != p.EffectiveSubject() || !entry.Active():
			continue
		}
		if p.Listed = e != p.Subject; p.Listed {
			p.Memberships = nil
		}
		for _, b := range of.All {
			if !slices.Contains(p.Memberships, b.Group) {
				p.Memberships = append(p.Memberships, b.Group)
			}
			if b.Role == domain.Maintainer && !p.Listed {
				p.Maintains = append(p.Maintains, b.Group)
			}
		}
	}
	return p, nil
}

// The headers by which OpenViking's clients name a tenant and a user.
const (
	accountHeader = "X-OpenViking-Account"
	userHeader    = "X-OpenViking-User"
)

var headerID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,127}$`)

// withVikingHeaders applies OpenViking's headers to p. Root, and callers in no-auth mode, may name an account, which
// is a tenant, and a user to act for. For all other callers these headers have no effect.
func (s Identities) withVikingHeaders(r *http.Request, p domain.Principal) (domain.Principal, error) {
	if !p.CrossesTenants() {
		return p, nil
	}
	var found domain.Problems
	account, user := r.Header.Get(accountHeader), r.Header.Get(userHeader)
	for header, id := range map[string]string{accountHeader: account, userHeader: user} {
		if id != "" && !headerID.MatchString(id) {
			found.Add(header, "must be 1 to 128 of A-Z a-z 0-9 . _ @ - and begin with a letter or digit")
		}
	}
	if err := found.Err(); err != nil {
		return p, err
	}
	if e := domain.Entity(domain.User + ":" + user); user != "" && e != p.Subject {
		p.OnBehalfOf = e
	}
	if account == "" || account == p.Tenant {
		return p, nil
	}
	p.Tenant = account
	return p, s.requireTenant(r.Context(), account)
}

// fromCredentials finds the holder of the key or, in no-auth mode, reads the identity that the caller claims. It
// looks the key up for every request, so that a key revoked on another server is invalid here at once.
func (s Identities) fromCredentials(r *http.Request) (domain.Principal, error) {
	key, err := presentedKey(r)
	if err != nil {
		return domain.Principal{}, err
	}
	var refused error
	var known domain.Principal // whose key is not valid any more, for the record of the refusal
	if key != "" {
		p, actsFor, err := s.checkKey(r, key)
		switch {
		case err == nil:
			return s.onBehalf(r, p, actsFor)
		case !errors.Is(err, domain.ErrUnauthenticated) && !errors.Is(err, serve.ErrRate):
			return p, err
		}
		refused, known = err, p
	}
	if open, unavailable := s.isOpen(r.Context()); !open {
		return known, cmp.Or(unavailable, refused, unknownCaller(
			"send it as Authorization: Bearer KEY; the annals command takes it from ANNALS_KEY or --api-key",
		))
	}
	return noAuth(r)
}

// isOpen tells whether the server is in no-auth mode, which the first key ends.
func (s Identities) isOpen(ctx context.Context) (bool, error) {
	if s.RootKey != "" || s.Tokens != nil {
		return false, nil
	}
	if s.Keys == nil {
		return true, nil
	}
	issued, err := s.Keys.Any(ctx)
	return !issued && err == nil, err
}

// checkKey finds the holder of a key or of a token. It refuses keys after too many invalid ones from the same address.
func (s Identities) checkKey(r *http.Request, key string) (p domain.Principal, actsFor bool, err error) {
	if strings.HasPrefix(key, sessionScheme) {
		read, err := s.readSession(key)
		if err != nil {
			return p, false, err
		}
		if read.Token == "" {
			return s.keyHolder(r, read.Prefix, read.Hash)
		}
		if s.Logins == nil {
			return p, false, sessionEnded()
		}
		p, err = s.fromToken(r.Context(), s.Logins, read.Token)
		return p, false, err
	}
	attempt := s.throttle.attempt(r, key, s.Now())
	token := s.isIssuedToken(key)
	if err := attempt.allow(); err != nil && !token { // a signature cannot be guessed
		return p, false, err
	}
	if token {
		p, err = s.fromToken(r.Context(), s.Tokens, key)
	} else {
		p, actsFor, err = s.keyHolder(r, PrefixOf(key), HashOfKey(key))
	}
	switch {
	case errors.Is(err, domain.ErrUnauthenticated):
		err = attempt.failed(err)
	case err == nil:
		attempt.succeeded()
	}
	return p, actsFor, err
}

// isIssuedToken tells whether a key is a token of the issuer. No key has a dot.
func (s Identities) isIssuedToken(key string) bool {
	return s.Tokens != nil && strings.Count(key, ".") == 2
}

// fromToken is the holder of a token. A token is invalid for a tenant that does not exist or was erased.
func (s Identities) fromToken(ctx context.Context, tokens Tokens, token string) (domain.Principal, error) {
	p, err := tokens.Principal(ctx, token)
	if err != nil || s.Keys == nil || p.Tenant == domain.DefaultTenant {
		return p, err
	}
	lives, err := s.Keys.Lives(ctx, p.Tenant)
	if err == nil && !lives {
		err = domain.Refuse(
			domain.ErrUnauthenticated, "there is no tenant of the name that ANNALS_OIDC_TENANT says, or it was erased",
		).
			WithFix("let root make it with annals tenant create, or name another")
	}
	return p, err
}

// presentedKey is the key that the request carries; empty if there is none.
func presentedKey(r *http.Request) (string, error) {
	key := strings.TrimSpace(r.Header.Get("X-API-Key"))
	scheme, token, found := strings.Cut(r.Header.Get("Authorization"), " ")
	if !found {
		return key, nil
	}
	token = strings.TrimSpace(token)
	if key != "" && !strings.EqualFold(scheme, "Bearer") { // which is for a proxy before this server
		return key, nil
	}
	if !strings.EqualFold(scheme, "Bearer") || key != "" && key != token {
		return "", unknownCaller("send one key, as Authorization: Bearer KEY")
	}
	return token, nil
}

func unknownCaller(fix string) error {
	return domain.Refuse(domain.ErrUnauthenticated, "a valid key is required").WithFix("%s", fix)
}

// keyHolder is the holder of the key with a prefix and a hash, and whether they may act for others. Only the holder of
// a key learns why it is not valid.
func (s Identities) keyHolder(r *http.Request, prefix, hash string) (p domain.Principal, actsFor bool, err error) {
	switch {
	case s.isRoot(hash):
		return rootPrincipal(), true, nil
	case s.Keys == nil || prefix == "":
		return p, false, wrongKey()
	}
	tenant, found, err := s.Keys.Key(r.Context(), prefix)
	if err != nil && !errors.Is(err, domain.ErrNotFound) {
		return p, false, err
	}
	if err != nil || !same(hash, found.Hash) {
		return p, false, wrongKey()
	}
	p, now := found.Principal(tenant, prefix), s.Now()
	if err := found.CheckValid(now); err != nil {
		return p, false, err
	}
	if found.InvitedBy != "" && r.URL.Path != invitationPath {
		return p, false, domain.Refuse(domain.ErrForbidden, "this is an invitation, which only gives its holder a key").
			WithFix("open its link, or POST %s", invitationPath)
	}
	s.Keys.Used(tenant, prefix, now)
	return p, found.ActsFor, nil
}

// isRoot tells whether the hash is that of the root key.
func (s Identities) isRoot(hash string) bool {
	return s.RootKey != "" && same(hash, HashOfKey(s.RootKey))
}

func wrongKey() error {
	return domain.Refuse(domain.ErrUnauthenticated, "the key is not valid").
		WithFix("look whether it is whole and this server's; an admin can give another")
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// rootPrincipal is the holder of the root key. Its subject is that of no-auth mode.
func rootPrincipal() domain.Principal {
	return domain.Principal{
		Tenant: domain.SystemTenant, Subject: domain.OpenPrincipal().Subject, Role: domain.Root,
		Authentication: domain.KeyStreams.Of("root"), PublishPublic: true,
	}
}

// onBehalf applies a request's headers to p: root names a tenant, and those who may act for others name them.
func (s Identities) onBehalf(r *http.Request, p domain.Principal, actsFor bool) (domain.Principal, error) {
	var found domain.Problems
	p.ActsForOthers = actsFor
	actor, known := p.Subject, p.OnBehalfOf // a token may name on whose behalf it is used
	claim(r, "Annals-Actor", &actor, &found)
	claim(r, "Annals-On-Behalf-Of", &p.OnBehalfOf, &found)
	if err := found.Err(); err != nil {
		return p, err
	}
	if actor != p.Subject {
		return p, domain.Refuse(domain.ErrForbidden, "the key belongs to %s", p.Subject).
			WithFix("leave Annals-Actor out, or use Annals-On-Behalf-Of")
	}
	if p.OnBehalfOf == p.Subject {
		p.OnBehalfOf = ""
	}
	if p.OnBehalfOf != known && !actsFor && p.OnBehalfOf != "" {
		return p, domain.Refuse(domain.ErrForbidden, "the key does not let %s act on behalf of others", p.Subject).
			WithFix("use a key that was created with acts_for, as annals key create --acts-for does")
	}
	return s.inTenant(r, p)
}

// inTenant lets root choose a tenant. All other callers have one.
func (s Identities) inTenant(r *http.Request, p domain.Principal) (domain.Principal, error) {
	tenant := r.Header.Get("Annals-Tenant")
	if p.Role != domain.Root {
		if tenant != "" && tenant != p.Tenant {
			return p, domain.Refuse(domain.ErrForbidden, "the key is valid for another tenant only")
		}
		return p, nil
	}
	p.Tenant = cmp.Or(tenant, domain.DefaultTenant)
	if tenant == domain.SystemTenant && r.Method == http.MethodGet { // root may read the server's own log
		return p, nil
	}
	return p, s.requireTenant(r.Context(), p.Tenant)
}

// requireTenant refuses a tenant that does not exist. The default tenant always exists.
func (s Identities) requireTenant(ctx context.Context, tenant string) error {
	if tenant == domain.DefaultTenant {
		return nil
	}
	exists, err := false, error(nil)
	if s.Keys != nil {
		exists, err = s.Keys.HasTenant(ctx, tenant)
	}
	if err == nil && !exists {
		var found domain.Problems
		found.Add("Annals-Tenant", "there is no such tenant")
		err = found.Err()
	}
	return err
}

// noAuth accepts every caller that reaches this server, and the identity that the caller claims. A website could
// point its own name at this machine and call the server from a browser. So the host must be one that a stranger
// cannot register.
func noAuth(r *http.Request) (domain.Principal, error) {
	if !local(r.Host) {
		return domain.Principal{}, domain.Refuse(
			serve.ErrOrigin, "in no-auth mode the server answers to this machine's names only",
		).
			WithFix("call it as localhost or 127.0.0.1")
	}
	var found domain.Problems
	p := domain.OpenPrincipal()
	p.ActsForOthers = true
	claim(r, "Annals-Actor", &p.Subject, &found)
	claim(r, "Annals-On-Behalf-Of", &p.OnBehalfOf, &found)
	// a caller that sends the header must not write to another tenant
	switch requested := r.Header.Get("Annals-Tenant"); {
	case requested == domain.SystemTenant && r.Method == http.MethodGet && p.IsOperator(): // as root
		p.Tenant = requested
	case requested != "" && requested != p.Tenant:
		found.Add("Annals-Tenant", "in no-auth mode there is one tenant: %s", p.Tenant)
	}
	return p, found.Err()
}

func claim(r *http.Request, header string, entity *domain.Entity, found *domain.Problems) {
	claimed := r.Header.Get(header)
	if claimed == "" {
		return
	}
	parsed, err := domain.ParseEntity(claimed)
	if err != nil {
		found.Add(header, "%s", err)
		return
	}
	*entity = parsed
}

// local tells whether a Host header is an address, a name without a dot, or a name under localhost or internal, which
// are reserved for private use.
func local(host string) bool {
	if !strings.ContainsAny(host, ".:") {
		return true
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.Trim(host, "[]"), ".")
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	host = strings.ToLower(host)
	return !strings.Contains(host, ".") || strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".internal")
}

// RightsOf tells which rights a subscriber has now, by the directory and the key with which the subscription was made,
// or the key that replaced it. A subscription that was made with a token has the rights of the directory.
func (s Identities) RightsOf(ctx context.Context, tenant string, of domain.Subscription) (domain.Principal, error) {
	actor := of.Subscriber
	if of.By != "" {
		actor = of.By
	}
	p := domain.Principal{Tenant: tenant, Subject: actor, Role: domain.Member, Authentication: of.Authentication}
	prefix := domain.KeyStreams.ID(of.Authentication)
	switch {
	case prefix == "root":
		if p = rootPrincipal(); s.RootKey == "" {
			return p, wrongKey()
		}
		p.Tenant, p.Subject = tenant, actor
	case domain.KeyStreams.Has(of.Authentication):
		key, err := s.keyNow(ctx, prefix)
		if err != nil {
			return p, err
		}
		if of.By != "" && !key.ActsFor {
			return p, wrongKey()
		}
		p = key.Principal(tenant, prefix)
	case of.Authentication == domain.OpenAuthentication:
		if open, err := s.isOpen(ctx); err != nil || !open {
			return p, cmp.Or(err, wrongKey())
		}
		p = domain.OpenPrincipal()
		p.Subject = actor
	}
	if of.By != "" {
		p.OnBehalfOf = of.Subscriber
	}
	p, err := s.withDirectory(ctx, p)
	if err == nil && domain.CheckActsFor(p) != nil { // the key may not act for the subscriber any more
		err = wrongKey()
	}
	return p, err
}

// keyNow is the valid key that has a prefix, or that replaced it.
func (s Identities) keyNow(ctx context.Context, prefix string) (key domain.Key, err error) {
	const mostRotations = 1000
	for range mostRotations {
		if s.Keys == nil {
			return key, wrongKey()
		}
		_, key, err = s.Keys.Key(ctx, prefix)
		switch invalid := key.CheckValid(s.Now()); {
		case domain.IsGone(err):
			return key, wrongKey()
		case err != nil || invalid == nil:
			return key, err
		case key.ReplacedBy == "" || !key.RevokedAt.IsZero():
			return key, invalid
		}
		prefix = key.ReplacedBy
	}
	return key, wrongKey()
}
