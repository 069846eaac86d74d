package api

import (
	"time"
)

// NewKey describes the key that the caller asks for.
type NewKey struct {
	Subject       string     `json:"subject" example:"agent:crawler" doc:"Whose it is: an entity."`
	Role          string     `json:"role,omitempty" enum:"member,service,auditor,admin,root" doc:"member if left out."`
	Memberships   []string   `json:"memberships,omitempty" doc:"What the subject belongs to, such as team:pay."`
	ActsFor       bool       `json:"acts_for,omitempty" doc:"May act on behalf of others."`
	ActsForOnly   []string   `json:"acts_for_only,omitempty" doc:"May act only on behalf of these entities, and of the members of these groups. Empty for all."`
	PublishPublic bool       `json:"publish_public,omitempty" doc:"May write to the public scope."`
	ExpiresAt     *time.Time `json:"expires_at,omitempty" doc:"Never if left out."`
	Note          string     `json:"note,omitempty" maxLength:"200" doc:"What it is for."`
	Invitation    bool       `json:"invitation,omitempty" doc:"It is an invitation: it only gives its holder a key of the same rights, once, until expires_at."`
}

// KeyRotation is how a key is to be replaced.
type KeyRotation struct {
	Overlap *int64 `json:"overlap,omitempty" doc:"For how many seconds the old key stays valid: 0 ends it now, at most 30 days. Default: a day."`
}

// IssuedKey is a key as admins see it, without the secret.
type IssuedKey struct {
	Prefix        string     `json:"prefix"`
	Key           string     `json:"key,omitempty" doc:"The key itself: shown once, when it is made."`
	Tenant        string     `json:"tenant"`
	Subject       string     `json:"subject"`
	Role          string     `json:"role" enum:"member,service,auditor,admin,root"`
	Memberships   []string   `json:"memberships,omitempty"`
	Groups        []string   `json:"groups,omitempty" doc:"Groups that the subject belongs to directly, by the directory; in a list."`
	ActsFor       bool       `json:"acts_for,omitempty"`
	ActsForOnly   []string   `json:"acts_for_only,omitempty"`
	PublishPublic bool       `json:"publish_public,omitempty"`
	CreatedAt     time.Time  `json:"created_at"`
	State         string     `json:"state,omitempty" enum:"valid,invited,ended,replaced,expired,revoked" doc:"invited and ended are of invitations: ended are those that are over, or whose inviter may not invite any more."`
	ExpiresAt     *time.Time `json:"expires_at,omitempty"`
	RevokedAt     *time.Time `json:"revoked_at,omitempty"`
	UsedAt        *time.Time `json:"used_at,omitempty" doc:"About when it was used last."`
	ReplacedBy    string     `json:"replaced_by,omitempty"`
	Replaces      string     `json:"replaces,omitempty"`
	InvitedBy     string     `json:"invited_by,omitempty" doc:"Who issued it, if it is an invitation."`
	Warning       string     `json:"warning,omitempty" doc:"That the directory does not know the subject."`
	ReplacedUntil *time.Time `json:"replaced_until,omitempty" doc:"Until when the key that this one replaces is valid; in the answer to a rotation."`
}

// Keys are the keys of a tenant.
type Keys struct {
	Items []IssuedKey `json:"items" nullable:"false"`
}

// Identity is the caller as the server authenticated it.
type Identity struct {
	Tenant         string       `json:"tenant"`
	Subject        string       `json:"subject"`
	OnBehalfOf     string       `json:"on_behalf_of,omitempty"`
	Role           string       `json:"role" enum:"member,service,auditor,admin,root"`
	Memberships    []string     `json:"memberships,omitempty" doc:"What you belong to: by the key, by the token, and by the directory."`
	Groups         []Membership `json:"groups,omitempty" doc:"What the directory says that you belong to."`
	PublishPublic  bool         `json:"publish_public" doc:"May write to the public scope."`
	Operates       bool         `json:"operates" doc:"Is an operator: may purge the files of the server."`
	ActsFor        bool         `json:"acts_for" doc:"May name on whose behalf it acts, with each request."`
	ActsForOnly    []string     `json:"acts_for_only,omitempty" doc:"On whose behalf: these entities, and the members of these groups. Missing for all."`
	Authentication string       `json:"authentication" example:"key:ab23cdefgh" doc:"How the server knows."`
}

type NewTenant struct {
	Name string `json:"name" example:"acme" doc:"1 to 63 of a-z 0-9 -."`
}

// Tenant is one tenant of the server.
type Tenant struct {
	Name      string     `json:"name"`
	CreatedAt *time.Time `json:"created_at,omitempty" doc:"Missing for the tenant default, which is always there."`
	ErasedAt  *time.Time `json:"erased_at,omitempty" doc:"When everything that was written in it was erased; its name stays taken."`
}

// Tenants are the tenants of a server.
type Tenants struct {
	Items []Tenant `json:"items" nullable:"false"`
}
