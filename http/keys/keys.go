package keys

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/people"
	"github.com/annals-kb/annals/http/serve"
)

func issuedKeyOf(c *serve.Call, k domain.IssuedKey) api.IssuedKey {
	return api.IssuedKey{
		Prefix: k.Prefix, Tenant: c.Principal.Tenant, Subject: string(k.Subject), Role: string(k.Role), ActsFor: k.ActsFor,
		ActsForOnly: serve.Strings(k.ActsForOnly), PublishPublic: k.PublishPublic, CreatedAt: k.CreatedAt.UTC(),
		ExpiresAt: serve.Time(k.ExpiresAt), State: k.StateAt(c.Now),
		Memberships: serve.Strings(k.Memberships), RevokedAt: serve.Time(k.RevokedAt), UsedAt: serve.Time(k.UsedAt),
		ReplacedBy: k.ReplacedBy, Replaces: k.Replaces, Groups: serve.Strings(k.Groups), InvitedBy: string(k.InvitedBy),
	}
}

type keyOutput struct {
	Position string `header:"Annals-Position" doc:"Of the newest event."`
	Outcome  string `header:"Annals-Outcome" enum:"created,recorded,unchanged" doc:"What the write did: unchanged is a key that had been revoked before."`
	Replayed string `header:"Idempotent-Replayed" doc:"true if the request had been made before; then the key itself is not shown again."`
	Redacted string `header:"Annals-Redacted" doc:"What was taken out of the note or the reason before it was recorded."`
	Body     api.IssuedKey
}

type keyInput struct {
	Prefix string `path:"prefix" doc:"The key's prefix: what stands between the two underscores."`
}

// room answers requests about keys and tenants.
type room struct {
	api *serve.API
	Config
}

// Routes registers the operations on keys and tenants.
func Routes(a *serve.API, cfg Config) {
	s := room{a, cfg}
	s.tenantRoutes()
	tags := []string{"Access"}
	const path = "/v1/keys"
	serve.HandleBody(s.api, true, huma.Operation{
		OperationID: "create-key", Method: http.MethodPost, Path: path, Tags: tags, DefaultStatus: http.StatusCreated,
		Summary: "Issue a key",
		Description: "The key itself is in this answer and nowhere else. After the first key is issued, every request " +
			"needs one. For admins.",
	}, s.createKey)
	serve.Lookup(s.api, huma.Operation{
		OperationID: "list-keys", Method: http.MethodGet, Path: path, Tags: tags,
		Summary: "List the tenant's keys", Description: "For admins.",
	}, serve.Needing(s.requireAdmin, s.listKeys))
	serve.HandleBody(s.api, false, huma.Operation{
		OperationID: "rotate-key", Method: http.MethodPost, Path: path +
			"/{prefix}/rotate", Tags: tags, DefaultStatus: http.StatusCreated,
		Summary: "Let another key take this one's place",
		Description: "The other allows the same. This one stays valid for the overlap, whose end the answer names. For " +
			"admins.",
	}, s.rotateKey)
	serve.HandleBody(s.api, false, huma.Operation{
		OperationID: "revoke-key", Method: http.MethodDelete, Path: path + "/{prefix}", Tags: tags,
		Summary: "Revoke a key",
		Description: "It is not valid any more, on any server. A key that was revoked before is answered like the first " +
			"time. The key that came of an invitation is revoked with it. For admins.",
	}, s.revokeKey)
	serve.Lookup(s.api, huma.Operation{
		OperationID: "read-invitation", Method: http.MethodGet, Path: invitationPath, Tags: tags,
		Summary: "See who invites you to what", Description: "For the holder of an invitation, who sends it as the key.",
	}, s.showInvitation)
	serve.Handle(s.api, huma.Operation{
		OperationID: "open-invitation", Method: http.MethodPost, Path: invitationPath, Tags: tags,
		DefaultStatus: http.StatusCreated, Errors: serve.NamedErrors,
		Summary: "Exchange an invitation for a key of your own",
		Description: "Once. The key allows what the invitation says, and has no end. For the holder of an invitation, " +
			"who sends it as the key. Every other request with an invitation is answered with 403.",
	}, s.openInvitation)
	serve.Lookup(s.api, huma.Operation{
		OperationID: "whoami", Method: http.MethodGet, Path: "/v1/whoami", Tags: tags,
		Summary:     "See as whom the server knows you",
		Description: "With your tenant, your role, for whom you act, and the groups to which you belong.",
	}, s.whoami)
}

// requireAdmin refuses callers who are not admins, and requires that the server keeps keys.
func (s room) requireAdmin(c *serve.Call) (Keyring, error) {
	switch {
	case !c.Principal.Administers() || c.Principal.OnBehalfOf != "":
		return nil, domain.Refuse(domain.ErrForbidden, "keys are for admins, in person")
	case s.Keys == nil:
		return nil, domain.Refuse(domain.ErrNotFound, "this server keeps no keys")
	}
	return s.Keys, nil
}

func (s room) createKey(ctx context.Context, c *serve.Call, _ *struct{}, body api.NewKey) (*keyOutput, error) {
	keys, err := s.requireAdmin(c)
	if err != nil {
		return nil, err
	}
	created := domain.KeyCreated{
		Subject: domain.Entity(body.Subject), Role: domain.Role(body.Role),
		ActsFor:       body.ActsFor || len(body.ActsForOnly) > 0,
		ActsForOnly:   serve.FromStrings[domain.Entity](body.ActsForOnly),
		PublishPublic: body.PublishPublic, ExpiresAt: serve.Value(body.ExpiresAt), Note: body.Note,
		Memberships: serve.FromStrings[domain.Entity](body.Memberships), Invitation: body.Invitation,
	}
	if created.Role == "" {
		created.Role = domain.Member
	}
	var prefix, key string
	prefix, key, created.Hash = NewKey()
	command := domain.CreateKey{By: c.Principal, Prefix: prefix, Key: created}
	if err := serve.Merge(c.Found, command.Validate(c.Now)); err != nil {
		return nil, err
	}
	if err := first(ctx, keys, s.RootKey, created); err != nil {
		return nil, err
	}
	receipt, err := s.api.Writer.Submit(ctx, c.Submission(command))
	out, err := keyReply(c, receipt, key, err)
	if err != nil || s.Directory == nil {
		return out, err
	}
	if of, unknown := s.Directory.Belongings(ctx, c.Principal.Tenant, created.Subject, nil); unknown == nil &&
		of.Entry.AddedAt.IsZero() {
		out.Body.Warning = fmt.Sprintf("%s is not in the directory: add it with annals %s add %s",
			created.Subject, created.Subject.Kind(), created.Subject.ID())
	}
	return out, nil
}

// first refuses a first key that could not administer the server.
func first(ctx context.Context, keys Keyring, rootKey string, key domain.KeyCreated) error {
	issued, err := keys.Any(ctx)
	administers := !key.Invitation && (key.Role == domain.Admin || key.Role == domain.Root)
	if err != nil || issued || rootKey != "" || administers {
		return err
	}
	return domain.Refuse(domain.ErrConflict, "the first key must be an admin's: after it every request needs a key").
		WithFix("create an admin's key first")
}

// keyReply answers with the receipt, and with the key itself if this request created it.
func keyReply(c *serve.Call, receipt domain.Receipt, key string, err error) (*keyOutput, error) {
	if err != nil {
		return nil, err
	}
	state, _ := receipt.Stream.State.(domain.Key)
	prefix := domain.KeyStreams.ID(receipt.Stream.Name)
	out := &keyOutput{
		Position: fmt.Sprint(receipt.Position), Outcome: receipt.Outcome, Redacted: domain.Redactions(receipt.Redacted),
		Body: issuedKeyOf(c, domain.IssuedKey{Key: state, Prefix: prefix}),
	}
	if receipt.Replayed {
		out.Replayed = "true"
	} else {
		out.Body.Key = key
	}
	return out, nil
}

func (s room) listKeys(ctx context.Context, c *serve.Call, keys Keyring, _ *struct{}) (out api.Keys, err error) {
	all, err := keys.Issued(ctx, c.Principal.Tenant)
	if err != nil {
		return out, err
	}
	slices.SortStableFunc(all, func(a, b domain.IssuedKey) int { return a.CreatedAt.Compare(b.CreatedAt) })
	out.Items = serve.Map(all, func(k domain.IssuedKey) api.IssuedKey { return issuedKeyOf(c, k) })
	ended := map[string]error{} // by inviter and role
	for i, k := range all {
		if k.InvitedBy == "" || k.CheckValid(c.Now) != nil {
			continue
		}
		inviter := fmt.Sprint(k.InvitedBy, k.InvitedWith, k.Role)
		err, known := ended[inviter]
		if !known {
			err = s.checkInviter(ctx, c, k.Key)
			ended[inviter] = err
		}
		switch {
		case errors.Is(err, domain.ErrUnauthenticated):
			out.Items[i].State = domain.InvitationEnded
		case err != nil:
			return out, err
		}
	}
	return out, nil
}

// How long a rotated key stays valid.
const (
	usualOverlap = 24 * time.Hour
	mostOverlap  = 30 * 24 * time.Hour
)

func (s room) rotateKey(ctx context.Context, c *serve.Call, in *keyInput, body api.KeyRotation) (*keyOutput, error) {
	overlap := usualOverlap
	if body.Overlap != nil {
		overlap = time.Duration(*body.Overlap) * time.Second
		if *body.Overlap < 0 || *body.Overlap > int64(mostOverlap/time.Second) {
			c.Found.Add("overlap", "must be 0 to %d seconds", int64(mostOverlap/time.Second))
		}
	}
	if c.Key != "" {
		c.Found.Add("Idempotency-Key", "is of no use here: the new key could not be shown again")
	}
	if _, err := s.requireAdmin(c); serve.Merge(c.Found, err) != nil {
		return nil, serve.Merge(c.Found, err)
	}
	return s.replaceKey(ctx, c, in.Prefix, c.Now.Add(overlap))
}

// replaceKey lets another key take a key's place at a time.
func (s room) replaceKey(ctx context.Context, c *serve.Call, old string, until time.Time) (*keyOutput, error) {
	prefix, key, hash := NewKey()
	results := s.api.Writer.SubmitAll(ctx, []domain.Submission{
		c.Submission(domain.RotateKey{By: c.Principal, Prefix: old, Next: prefix, Until: until}),
		c.Submission(domain.CreateKey{By: c.Principal, Prefix: prefix, Key: domain.KeyCreated{Hash: hash, Replaces: old}}),
	})
	if results[0].Err != nil {
		return nil, results[0].Err
	}
	out, err := keyReply(c, results[1].Receipt, key, results[1].Err)
	if old, is := results[0].Receipt.Stream.State.(domain.Key); err == nil && is {
		out.Body.ReplacedUntil = serve.Time(old.ExpiresAt)
	}
	return out, err
}

// invitationPath is the only path that answers to an invitation.
const invitationPath = "/v1/invitation"

// invitation is the invitation that the caller holds.
func (s room) invitation(ctx context.Context, c *serve.Call) (found domain.IssuedKey, err error) {
	refused := domain.Refuse(domain.ErrNotFound, "this is no invitation").WithFix("send one as the key")
	if s.Keys == nil {
		return found, refused
	}
	found.Prefix = domain.KeyStreams.ID(c.Principal.Authentication)
	c.Principal.Tenant, found.Key, err = s.Keys.Key(ctx, found.Prefix) // root's is not the one that it names
	if domain.IsGone(err) || err == nil && found.InvitedBy == "" {
		err = refused
	}
	if err != nil {
		return found, err
	}
	return found, s.checkInviter(ctx, c, found.Key)
}

// checkInviter says why an invitation is not valid any more by the rights that its inviter has now.
func (s room) checkInviter(ctx context.Context, c *serve.Call, k domain.Key) error {
	return k.CheckInviter(Identities{Config: s.Config}.RightsOf(ctx, c.Principal.Tenant, domain.Subscription{
		Subscriber: k.InvitedBy, Authentication: k.InvitedWith,
	}))
}

func (s room) showInvitation(ctx context.Context, c *serve.Call, _ *struct{}) (api.IssuedKey, error) {
	found, err := s.invitation(ctx, c)
	return issuedKeyOf(c, found), err
}

func (s room) openInvitation(ctx context.Context, c *serve.Call, _ *struct{}) (*keyOutput, error) {
	found, err := s.invitation(ctx, c)
	if err = cmp.Or(c.Found.Err(), err); err != nil {
		return nil, err
	}
	return s.replaceKey(ctx, c, found.Prefix, c.Now)
}

func (s room) revokeKey(ctx context.Context, c *serve.Call, in *keyInput, body api.Reason) (*keyOutput, error) {
	command := domain.RevokeKey{By: c.Principal, Prefix: in.Prefix, Reason: body.Reason}
	keys, err := s.requireAdmin(c)
	if err == nil {
		err = command.Validate()
	}
	if err := serve.Merge(c.Found, err); err != nil {
		return nil, err
	}
	for range 3 { // an invitation is opened once
		first, then, err := withSuccessors(ctx, keys, command)
		if err != nil {
			return nil, err
		}
		receipt, err := c.Submit(ctx, first, nil, then...)
		if !errors.Is(err, domain.ErrPrecondition) {
			return keyReply(c, receipt, "", err)
		}
	}
	return nil, domain.Refuse(domain.ErrBusy, "the key is rotated again and again")
}

// withSuccessors are the commands that revoke a key and, if it is an invitation, the keys that came of it.
func withSuccessors(
	ctx context.Context, keys Keyring, first domain.RevokeKey,
) (command domain.Command, then []domain.Command, err error) {
	tenant, k, err := keys.Key(ctx, first.Prefix)
	if err != nil || tenant != first.By.Tenant || k.InvitedBy == "" {
		if domain.IsGone(err) { // the decision says so
			err = nil
		}
		return first, nil, err
	}
	first.Next = &k.ReplacedBy
	for next := k.ReplacedBy; next != "" && err == nil; {
		var came domain.Key
		_, came, err = keys.Key(ctx, next)
		then = append(then, domain.RevokeKey{By: first.By, Prefix: next, Reason: first.Reason, Next: &came.ReplacedBy})
		next = came.ReplacedBy
	}
	return first, then, err
}

func (s room) whoami(ctx context.Context, c *serve.Call, _ *struct{}) (api.Identity, error) {
	p := c.Principal
	var of domain.Belongings
	if s.Directory != nil {
		var err error
		if of, err = s.Directory.Belongings(ctx, p.Tenant, p.EffectiveSubject(), nil); err != nil {
			return api.Identity{}, err
		}
	}
	return api.Identity{
		Groups: people.BelongingsOf(of.All),
		Tenant: p.Tenant, Subject: string(p.Subject), OnBehalfOf: string(p.OnBehalfOf), Role: string(p.Role),
		PublishPublic: p.MayPublish(domain.Public), Operates: p.IsOperator(), Authentication: p.Authentication,
		Memberships: serve.Strings(p.Memberships), ActsFor: p.ActsForOthers, ActsForOnly: serve.Strings(p.ActsForOnly),
	}, nil
}

func (s room) tenantRoutes() {
	tags := []string{"Access"}
	const path = "/v1/tenants"
	serve.HandleBody(s.api, true, huma.Operation{
		OperationID: "create-tenant", Method: http.MethodPost, Path: path, Tags: tags, DefaultStatus: http.StatusCreated,
		Summary:     "Create a tenant",
		Description: "Root acts in it with the header Annals-Tenant, and gives its admin a key. For root.",
	}, s.createTenant)
	serve.Lookup(s.api, huma.Operation{
		OperationID: "list-tenants", Method: http.MethodGet, Path: path, Tags: tags,
		Summary: "List the tenants", Description: "For root.",
	}, s.listTenants)
}

func (s room) createTenant(
	ctx context.Context, c *serve.Call, _ *struct{}, body api.NewTenant,
) (*serve.Output[api.Tenant], error) {
	command := domain.CreateTenant{By: c.Principal, Name: body.Name}
	if err := serve.Merge(c.Found, command.Validate()); err != nil {
		return nil, err
	}
	submission := c.Submission(command)
	submission.By.Tenant = domain.SystemTenant
	receipt, err := s.api.Writer.Submit(ctx, submission)
	if err != nil {
		return nil, err
	}
	created, _ := receipt.Stream.State.(domain.Tenant)
	return &serve.Output[api.Tenant]{Body: api.Tenant{Name: body.Name, CreatedAt: serve.Time(created.CreatedAt)}}, nil
}

func (s room) listTenants(ctx context.Context, c *serve.Call, _ *struct{}) (out api.Tenants, err error) {
	if c.Principal.Role != domain.Root || c.Principal.OnBehalfOf != "" || s.Keys == nil {
		return out, domain.Refuse(domain.ErrForbidden, "tenants are for root")
	}
	all, err := s.Keys.Tenants(ctx)
	out.Items = serve.Map(all, func(t domain.NamedTenant) api.Tenant {
		return api.Tenant{Name: t.Name, CreatedAt: serve.Time(t.CreatedAt), ErasedAt: serve.Time(t.ErasedAt)}
	})
	return out, err
}

// A key is annals_PREFIX_SECRET. The prefix names it in lists and logs; the secret is 256 random bits. The server
// stores only a hash of the key.
var keyForm = regexp.MustCompile(`^annals_([a-z2-7]{10})_[a-z2-7]{52}$`)

var lowerBase32 = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// NewKey makes a key.
func NewKey() (prefix, key, hash string) {
	random := make([]byte, 7+32)
	_, _ = rand.Read(random) // never fails, see crypto/rand
	prefix = lowerBase32.EncodeToString(random[:7])[:10]
	key = "annals_" + prefix + "_" + lowerBase32.EncodeToString(random[7:])
	return prefix, key, HashOfKey(key)
}

// HashOfKey is what the server stores of a key. A key is random enough to need no slow hash.
func HashOfKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// PrefixOf is the prefix of a key; empty if it is none.
func PrefixOf(key string) string {
	if parts := keyForm.FindStringSubmatch(strings.TrimSpace(key)); parts != nil {
		return parts[1]
	}
	return ""
}
