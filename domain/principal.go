package domain

import (
	"context"
	"slices"
	"strings"
)

// Role is what a principal may do beyond its own entities.
type Role string

// The roles.
const (
	Member  Role = "member"  // sees and changes what its entities may
	Service Role = "service" // acts for any entity of its tenant, administers nothing
	Auditor Role = "auditor" // reads everything of its tenant, changes nothing
	Admin   Role = "admin"   // everything within its tenant
	Root    Role = "root"    // an admin of every tenant
)

// Roles are all of them.
var Roles = []Role{Member, Service, Auditor, Admin, Root}

// Principal is who is calling.
type Principal struct {
	Tenant         string
	Subject        Entity
	OnBehalfOf     Entity   // empty when the subject acts for itself
	Memberships    []Entity // what the subject belongs to
	Role           Role
	Authentication string // how we know: "open", "key:PREFIX", "jwt:ISSUER", "system"
	PublishPublic  bool   // may write to the public scope
}

// DefaultTenant is the tenant of a fresh start.
const DefaultTenant = "default"

// SystemTenant is whose log keeps what concerns no tenant or all of them. Its name is no tenant's name.
const SystemTenant = "_system"

// SystemPrincipal is the server itself, when it acts without a request.
func SystemPrincipal() Principal {
	return Principal{Tenant: SystemTenant, Subject: "agent:annals", Role: Root, Authentication: "system"}
}

// OpenPrincipal is the caller of a server in no-auth mode: an admin whose claims are believed.
func OpenPrincipal() Principal {
	return Principal{
		Tenant: DefaultTenant, Subject: "user:default", Role: Admin,
		Authentication: OpenAuthentication, PublishPublic: true,
	}
}

// EffectiveSubject is the entity on whose behalf p acts, or else its subject.
func (p Principal) EffectiveSubject() Entity {
	if p.OnBehalfOf != "" {
		return p.OnBehalfOf
	}
	return p.Subject
}

// mayNot refuses to do something as those whom p is not and does not belong to. On another entity's behalf it is p's
// own memberships that count, and so that is said.
func (p Principal) mayNot(do string, denied []string) *Refusal {
	whom := strings.Join(denied, ", ")
	if p.OnBehalfOf == "" {
		return Refuse(ErrForbidden, "%s may not %s %s", p.Subject, do, whom).
			WithFix("name only entities you are or belong to")
	}
	refused := Refuse(ErrForbidden, "%s on behalf of %s may not %s %s", p.Subject, p.OnBehalfOf, do, whom)
	if p.speaksForAny() {
		return refused.WithFix("name no other user than %s", p.OnBehalfOf)
	}
	return refused.WithFix(
		"name only %s and what the key belongs to that acts: what %s belongs to by other keys does not count",
		p.OnBehalfOf, p.OnBehalfOf,
	)
}

// notRoot refuses what is root's to do, and says how to be root: a server in no-auth mode has no root.
func (p Principal) notRoot(refused string) error {
	refusal := Refuse(ErrForbidden, "%s", refused)
	switch {
	case p.Role == Root: // a root key that acts for another entity
		return refusal
	case p.Authentication == OpenAuthentication:
		return refusal.WithFix(
			"stop the server, make root a key with annals key create user:YOU --role root --offline, and start it again; or " +
				"start it with ANNALS_ROOT_KEY",
		)
	}
	return refusal.WithFix("use the server's ANNALS_ROOT_KEY, or a key of the role root")
}

// Administers tells whether p may do anything within its tenant.
func (p Principal) Administers() bool { return p.Role == Admin || p.Role == Root }

// IsTenantAdmin tells whether p administers its tenant in person: acting for another entity narrows that to what
// belongs to it.
func (p Principal) IsTenantAdmin() bool { return p.Administers() && p.OnBehalfOf == "" }

// IsOperator tells whether p looks after the whole server in person, which concerns every tenant: root, and every
// caller in no-auth mode.
func (p Principal) IsOperator() bool {
	return p.OnBehalfOf == "" && p.CrossesTenants()
}

// CrossesTenants tells whether p is of no tenant of its own, and may be given any.
func (p Principal) CrossesTenants() bool {
	return p.Role == Root || p.Role == Admin && p.Authentication == OpenAuthentication
}

// OpenAuthentication is the authentication of callers in no-auth mode.
const OpenAuthentication = "open"

// belongs tells whether e is one of the [Principal.Entities].
func (p Principal) belongs(e Entity) bool {
	return e == p.EffectiveSubject() || e == p.Subject && e.Kind() == Agent || slices.Contains(p.Memberships, e)
}

// Entities lists what p is and belongs to, without duplicates. A principal that acts for another
// entity has that entity instead of itself; an agent keeps its own experience whomever it serves.
func (p Principal) Entities() []Entity {
	all := append([]Entity{p.EffectiveSubject()}, p.Memberships...)
	if p.Subject.Kind() == Agent {
		all = append(all, p.Subject)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

type callerKey struct{}

// caller is who asked for something, and how that came about.
type caller struct {
	by     Principal
	origin Origin
}

// WithCaller notes on whose request something is done, for what is recorded about it far from where the
// request came in.
func WithCaller(ctx context.Context, by Principal, origin Origin) context.Context {
	return context.WithValue(ctx, callerKey{}, caller{by, origin})
}

// CallerOf is the caller of the request; the server itself without a request.
func CallerOf(ctx context.Context) (Principal, Origin) {
	if c, known := ctx.Value(callerKey{}).(caller); known {
		return c.by, c.origin
	}
	return SystemPrincipal(), Origin{}
}
