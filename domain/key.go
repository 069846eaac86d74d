package domain

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Key is the state of an API key. The prefix of the key names its stream.
type Key struct {
	Hash          string    `json:"hash"` // SHA-256 of the whole key, in hexadecimal
	Subject       Entity    `json:"subject"`
	Memberships   []Entity  `json:"memberships,omitempty"`
	Role          Role      `json:"role"`
	ActsFor       bool      `json:"acts_for,omitempty"`
	ActsForOnly   []Entity  `json:"acts_for_only,omitempty"` // these, and members of these groups; empty for all
	PublishPublic bool      `json:"publish_public,omitempty"`
	CreatedAt     time.Time `json:"created_at"`
	ExpiresAt     time.Time `json:"expires_at,omitzero"`
	RevokedAt     time.Time `json:"revoked_at,omitzero"`
	ReplacedBy    string    `json:"replaced_by,omitempty"`
	Replaces      string    `json:"replaces,omitempty"`
	InvitedBy     Entity    `json:"invited_by,omitempty"`   // who issued it, if it is an invitation
	InvitedWith   string    `json:"invited_with,omitempty"` // and how they had authenticated
}

// longestInvitation is how long an invitation can be opened at most, whatever its end.
const longestInvitation = 30 * 24 * time.Hour

// KeyStreams are the streams of keys by their prefixes, each in its tenant's log. Their names are also the
// authentications of callers with a key.
var KeyStreams = StreamKind{
	Name: "key", State: Key{}, Form: 2, Facts: []Fact{KeyCreated{}, KeyRotated{}, KeyRevoked{}, KeyRoleChanged{}},
}

func (k Key) Evolve(fact Fact, at EventMetadata) (State, error) {
	if _, begins := fact.(KeyCreated); begins != (at.Version == 1) {
		return k, errors.New("the stream of a key begins with its creation, once")
	}
	switch f := fact.(type) {
	case KeyCreated:
		k = Key{
			Hash: f.Hash, Subject: f.Subject, Memberships: slices.Clone(f.Memberships), Role: f.Role, ActsFor: f.ActsFor,
			ActsForOnly: slices.Clone(f.ActsForOnly), PublishPublic: f.PublishPublic, CreatedAt: at.RecordedAt,
			ExpiresAt: f.ExpiresAt, Replaces: f.Replaces,
		}
		if f.Invitation {
			k.InvitedBy, k.InvitedWith = at.Actor, at.Authentication
			if end := at.RecordedAt.Add(longestInvitation); end.Before(k.ExpiresAt) {
				k.ExpiresAt = end
			}
		}
		return k, nil
	case KeyRotated:
		k.ReplacedBy = f.By
		if k.ExpiresAt.IsZero() || f.Until.Before(k.ExpiresAt) {
			k.ExpiresAt = f.Until
		}
		return k, nil
	case KeyRoleChanged:
		k.Role = f.Role
		return k, nil
	case KeyRevoked:
		k.RevokedAt = at.RecordedAt
		return k, nil
	}
	return k, errors.New("not a fact about a key")
}

// Under is the key as it stands under its subject's entry in the directory: a deactivation revokes all earlier keys.
func (k Key) Under(subject MemberEntry) Key {
	if k.RevokedAt.IsZero() && k.Role != Root && subject.Revoked(k.CreatedAt) {
		k.RevokedAt = subject.KeysSince
	}
	return k
}

// CheckValid says why a key is not valid at a time; nil if it is valid.
func (k Key) CheckValid(now time.Time) error {
	what := "key"
	if k.InvitedBy != "" {
		what = "invitation"
	}
	switch {
	case !k.RevokedAt.IsZero():
		return Refuse(ErrUnauthenticated, "the %s was revoked", what).WithFix("ask an admin for another")
	case k.InvitedBy != "" && k.ReplacedBy != "":
		return openedBefore(ErrUnauthenticated)
	case !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt) && k.ReplacedBy != "":
		return Refuse(ErrUnauthenticated, "the key was replaced by another").
			WithFix("use that one, or ask an admin for another")
	case !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt):
		return Refuse(ErrUnauthenticated, "the %s has expired", what).WithFix("ask an admin for another")
	}
	return nil
}

// StateAt says in a word what has become of a key at a time. Whether an invitation has ended with its inviter's rights,
// [Key.CheckInviter] tells.
func (k Key) StateAt(now time.Time) string {
	over := !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt)
	switch {
	case !k.RevokedAt.IsZero():
		return "revoked"
	case k.ReplacedBy != "" && over:
		return "replaced"
	case k.InvitedBy != "" && over:
		return InvitationEnded
	case over:
		return "expired"
	case k.InvitedBy != "":
		return "invited"
	}
	return "valid"
}

// InvitationEnded is the state of an invitation that nobody can open any more.
const InvitationEnded = "ended"

// CheckInviter says why an invitation is not valid any more: its inviter, by their rights of now, may not issue such a
// key. What a token allows is not known, but in whose name it is.
func (k Key) CheckInviter(inviter Principal, rights error) error {
	if rights == nil && !strings.HasPrefix(k.InvitedWith, "jwt:") {
		rights = mayIssue(inviter, k.Role)
	}
	if !errors.Is(rights, ErrUnauthenticated) && !errors.Is(rights, ErrForbidden) {
		return rights
	}
	return Refuse(ErrUnauthenticated, "the invitation has ended, since %s may not invite any more", k.InvitedBy).
		WithFix("ask an admin for another")
}

func openedBefore(as error) error {
	return Refuse(as, "the invitation was opened before").
		WithFix("log in with the key that it gave; if that was not you, tell an admin")
}

// opens tells whether the caller holds this key, which has a prefix, and it is an invitation.
func (k Key) opens(by Principal, prefix string) bool {
	return k.InvitedBy != "" && by.Authentication == k.Principal("", prefix).Authentication
}

// Principal is the caller that uses the key.
func (k Key) Principal(tenant, prefix string) Principal {
	return Principal{
		Tenant: tenant, Subject: k.Subject, Memberships: k.Memberships, Role: k.Role,
		Authentication: KeyStreams.Of(prefix), KeyCreated: k.CreatedAt, PublishPublic: k.PublishPublic,
		ActsForOnly: k.ActsForOnly,
	}
}

// IssuedKey is a key as admins see it, without the secret.
type IssuedKey struct {
	Key
	Prefix string
	UsedAt time.Time // approximate time of the last use; zero if never used
	Groups []Entity  // of its subject, directly, by the directory
}

// CreateKey asks to record a key that the caller has generated.
type CreateKey struct {
	By     Principal
	Prefix string
	Key    KeyCreated
}

// Validate names every bad field at once. The error matches [ErrForbidden] if the caller may not issue such a key.
func (c CreateKey) Validate(now time.Time) error {
	var p Problems
	if _, err := ParseEntity(string(c.Key.Subject)); err != nil {
		p.Add("subject", "%s", err)
	}
	checkEntities(&p, "memberships", c.Key.Memberships)
	checkEntities(&p, "acts_for_only", c.Key.ActsForOnly)
	oneOf(&p, "role", c.Key.Role, Roles, true)
	if !c.Key.ExpiresAt.IsZero() && !c.Key.ExpiresAt.After(now) {
		p.Add("expires_at", "must lie ahead")
	}
	if c.Key.Invitation && c.Key.ExpiresAt.IsZero() {
		p.Add("expires_at", "is required of an invitation")
	}
	atMost(&p, "note", c.Key.Note, maxNote)
	if err := p.Err(); err != nil {
		return err
	}
	return mayIssue(c.By, c.Key.Role)
}

func checkEntities(p *Problems, field string, entities []Entity) {
	for i, e := range entities {
		if _, err := ParseEntity(string(e)); err != nil {
			p.Add(fmt.Sprintf("%s[%d]", field, i), "%s", err)
		}
	}
	if len(entities) > maxScopes {
		p.Add(field, "must be at most %d", maxScopes)
	}
}

// mayIssue refuses to issue a key with more rights than the caller has.
func mayIssue(by Principal, role Role) error {
	switch {
	case !by.Administers():
		return Refuse(ErrForbidden, "keys are for admins")
	case role == Root && by.Role != Root:
		return notRoot(by, "only root gives keys to root")
	}
	return nil
}

func (c CreateKey) Stream() string { return KeyStreams.Of(c.Prefix) }

func (c CreateKey) Reads() Reads {
	if c.Key.Replaces == "" {
		return Reads{}
	}
	return Reads{Streams: []string{KeyStreams.Of(c.Key.Replaces)}}
}

func (c CreateKey) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	if dc.Stream(c.Stream()).Exists() {
		return nil, Refuse(ErrTaken, "the prefix of the key is taken").WithFix("try again")
	}
	created, opened := c.Key, false
	if created.Replaces != "" { // the current rights of the earlier key count: they may have changed
		old := StateOf[Key](dc, KeyStreams.Of(created.Replaces))
		if old.ReplacedBy != c.Prefix {
			return nil, Refuse(ErrConflict, "the key was not rotated")
		}
		opened = old.opens(c.By, created.Replaces)
		created.Subject, created.Memberships, created.Role = old.Subject, old.Memberships, old.Role
		created.ActsFor, created.ActsForOnly, created.PublishPublic = old.ActsFor, old.ActsForOnly, old.PublishPublic
	}
	if err := mayIssue(c.By, created.Role); err != nil && !opened {
		return nil, err
	}
	if created.Role != Root && !StateOf[MemberEntry](dc, DirectoryStream(created.Subject)).DeactivatedAt.IsZero() {
		return nil, Refuse(ErrConflict, "%s was deactivated", created.Subject).
			WithFix("annals %s reactivate %s, or name another subject", created.Subject.Kind(), created.Subject.ID())
	}
	return []Fact{created}, nil
}

// RotateKey asks to replace a key, which stays valid for a while. Submit a [CreateKey] that names this key after it.
type RotateKey struct {
	By     Principal
	Prefix string
	Next   string // the prefix of the new key
	Until  time.Time
}

func (c RotateKey) Stream() string { return KeyStreams.Of(c.Prefix) }

func (c RotateKey) Reads() Reads { return Reads{} }

func (c RotateKey) Decide(dc DecisionContext, now time.Time) ([]Fact, error) {
	k, err := managedKey(dc, c.By, c.Prefix)
	if err != nil {
		return nil, err
	}
	k = k.Under(StateOf[MemberEntry](dc, DirectoryStream(k.Subject)))
	if k.InvitedBy != "" && k.ReplacedBy != "" {
		return nil, openedBefore(ErrConflict)
	}
	if k.InvitedBy != "" && !k.opens(c.By, c.Prefix) && c.By.Authentication != SystemPrincipal().Authentication {
		return nil, Refuse(ErrConflict, "%s is an invitation, which only its holder exchanges", c.Prefix).
			WithFix("revoke it, and invite again")
	}
	if err := k.CheckValid(now); err != nil || k.ReplacedBy != "" {
		return nil, Refuse(ErrConflict, "the key %s is no longer valid, or was rotated before", c.Prefix).
			WithFix("create another")
	}
	return []Fact{KeyRotated{By: c.Next, Until: c.Until}}, nil
}

// RevokeKey asks to revoke a key at once, and for good. Of an invitation, submit it with [RevokeKey] for the keys that
// came of it.
type RevokeKey struct {
	By     Principal
	Prefix string
	Reason string
	Next   *string // the key that has taken its place, if the caller knows; nil for any
}

// Validate names every bad field at once.
func (c RevokeKey) Validate() error { return checkReason(c.Reason) }

func (c RevokeKey) Stream() string { return KeyStreams.Of(c.Prefix) }

func (c RevokeKey) Reads() Reads { return Reads{} }

func (c RevokeKey) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	k, err := managedKey(dc, c.By, c.Prefix)
	if err == nil && c.Next != nil && *c.Next != k.ReplacedBy {
		err = Refuse(ErrPrecondition, "another key took the place of %s just now", c.Prefix).WithFix("try again")
	}
	if err != nil || !k.RevokedAt.IsZero() {
		return nil, err
	}
	return []Fact{KeyRevoked{Reason: c.Reason}}, nil
}

// managedKey finds a key that the caller may manage.
func managedKey(dc DecisionContext, by Principal, prefix string) (Key, error) {
	stream := dc.Stream(KeyStreams.Of(prefix))
	k := StateOf[Key](dc, KeyStreams.Of(prefix))
	if k.opens(by, prefix) {
		return k, nil
	}
	if !by.Administers() {
		return k, Refuse(ErrForbidden, "keys are for admins")
	}
	if !stream.Exists() {
		return k, Refuse(ErrNotFound, "no such key")
	}
	return k, mayIssue(by, k.Role)
}

var (
	_ State   = Key{}
	_ Command = CreateKey{}
	_ Command = RotateKey{}
	_ Command = RevokeKey{}
)

// ChangeRole asks to give a key another role.
type ChangeRole struct {
	By     Principal
	Prefix string
	Role   Role
}

func (c ChangeRole) Stream() string { return KeyStreams.Of(c.Prefix) }

func (c ChangeRole) Reads() Reads { return Reads{} }

// Validate names every bad field at once. The error matches [ErrForbidden] if the caller is not root.
func (c ChangeRole) Validate() error {
	if c.By.Role != Root {
		return Refuse(ErrForbidden, "roles are changed by root")
	}
	var p Problems
	oneOf(&p, "role", c.Role, Roles, true)
	return p.Err()
}

func (c ChangeRole) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	k, err := managedKey(dc, c.By, c.Prefix)
	if err != nil || k.Role == c.Role {
		return nil, err
	}
	if c.By.Role != Root {
		return nil, Refuse(ErrForbidden, "roles are changed by root")
	}
	return []Fact{KeyRoleChanged{Role: c.Role}}, nil
}

// Lowered is the role that a key with role r has after a change to another role. It never allows more than r. Neither
// service nor auditor is the lesser one: a change between them gives member.
func (r Role) Lowered(to Role) Role {
	reach := map[Role]int{Service: 1, Auditor: 1, Admin: 2, Root: 3}
	switch {
	case to == r || reach[to] < reach[r]:
		return to
	case reach[to] > reach[r]:
		return r
	}
	return Member
}

var _ Command = ChangeRole{}
