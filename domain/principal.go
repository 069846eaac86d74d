package domain

import (
	"context"
	"slices"
	"strings"
	"time"
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

// Roles lists all roles.
var Roles = []Role{Member, Service, Auditor, Admin, Root}

// Principal is the authenticated caller.
type Principal struct {
	Tenant         string
	Subject        Entity
	OnBehalfOf     Entity   // empty when the subject acts for itself
	Memberships    []Entity // what the subject belongs to
	Maintains      []Entity // groups of which the subject is a maintainer; none if it acts for another entity
	Role           Role
	Authentication string    // how the server knows: "open", "key:PREFIX", "jwt:ISSUER", "system"
	KeyCreated     time.Time // zero without a key
	PublishPublic  bool      // may write to the public scope
	ActsForOthers  bool      // may name on whose behalf it acts, with each request
	InSession      bool      // an agent's session asks, whoever it says that it is
	// ActsForOnly limits on whose behalf it may act: these entities, and the members of these groups. Empty for all.
	ActsForOnly []Entity
	// Listed tells that the directory knows the entity on whose behalf the principal acts. Then Memberships are that
	// entity's groups, and no role reaches beyond them.
	Listed bool
}

// DefaultTenant exists without a command.
const DefaultTenant = "default"

// SystemTenant keeps the log of what concerns no tenant or all of them. No tenant can have this name.
const SystemTenant = "_system"

// SystemPrincipal is the server itself, when it acts without a request.
func SystemPrincipal() Principal {
	return Principal{Tenant: SystemTenant, Subject: Agent + ":annals", Role: Root, Authentication: "system"}
}

// OpenPrincipal is the caller of a server in no-auth mode: an admin that may name any subject.
func OpenPrincipal() Principal {
	return Principal{
		Tenant: DefaultTenant, Subject: User + ":default", Role: Admin,
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

// CheckActsFor refuses an entity on whose behalf p may not act. The directory must have been applied to p.
func CheckActsFor(p Principal) error {
	listed := func(e Entity) bool { return slices.Contains(p.ActsForOnly, e) }
	if len(p.ActsForOnly) == 0 || p.OnBehalfOf == "" || listed(p.OnBehalfOf) ||
		p.Listed && slices.ContainsFunc(p.Memberships, listed) {
		return nil
	}
	only := make([]string, len(p.ActsForOnly))
	for i, e := range p.ActsForOnly {
		only[i] = string(e)
	}
	return Refuse(ErrForbidden, "the key lets %s act only on behalf of %s, not of %s",
		p.Subject, strings.Join(only, ", "), p.OnBehalfOf).
		WithFix("name one of them, or a member that the directory knows of one of their groups")
}

// mayNot refuses an action in the name of entities that p neither is nor belongs to. For a principal that acts for
// another entity, the refusal says that only its own memberships count.
func mayNot(p Principal, do string, denied []string) *Refusal {
	whom := strings.Join(denied, ", ")
	if p.OnBehalfOf == "" {
		return Refuse(ErrForbidden, "%s may not %s %s", p.Subject, do, whom).
			WithFix("name only yourself and groups that you belong to: annals whoami")
	}
	refused := Refuse(ErrForbidden, "%s on behalf of %s may not %s %s", p.Subject, p.OnBehalfOf, do, whom)
	switch {
	case p.Listed:
		return refused.WithFix("name only %s and what it belongs to: annals %s show %s",
			p.OnBehalfOf, p.OnBehalfOf.Kind(), p.OnBehalfOf.ID())
	case p.speaksForAny():
		return refused.WithFix("name no other user than %s", p.OnBehalfOf)
	}
	return refused.WithFix(
		"name only %s and what the key belongs to that acts: what %s belongs to by other keys does not count",
		p.OnBehalfOf, p.OnBehalfOf,
	)
}

// notRoot refuses an action that only root may do, and says how to act as root. A server in no-auth mode has no root.
func notRoot(p Principal, refused string) error {
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

// IsTenantAdmin tells whether p administers its tenant in person. A principal that acts for another entity has only
// that entity's rights.
func (p Principal) IsTenantAdmin() bool { return p.Administers() && p.OnBehalfOf == "" }

// IsOperator tells whether p may manage the whole server in person: root, and every caller in no-auth mode.
func (p Principal) IsOperator() bool {
	return p.OnBehalfOf == "" && p.CrossesTenants()
}

// CrossesTenants tells whether p belongs to no tenant and may choose one.
func (p Principal) CrossesTenants() bool {
	return p.Role == Root || p.Role == Admin && p.Authentication == OpenAuthentication
}

// OpenAuthentication is the authentication of callers in no-auth mode.
const OpenAuthentication = "open"

// belongs tells whether e is one of the [Principal.Entities].
func (p Principal) belongs(e Entity) bool {
	return e == p.EffectiveSubject() || e == p.Subject && e.Kind() == Agent || slices.Contains(p.Memberships, e)
}

// Selves lists what p is: the entity for which it acts and, if it is an agent, its own.
func (p Principal) Selves() []Entity {
	if p.Subject.Kind() == Agent && p.OnBehalfOf != "" && p.OnBehalfOf != p.Subject {
		return []Entity{p.OnBehalfOf, p.Subject}
	}
	return []Entity{p.EffectiveSubject()}
}

// Entities lists what p is and belongs to, without duplicates. If p acts for another entity, that entity replaces the
// subject. An agent keeps its own entity in addition, whichever user it serves.
func (p Principal) Entities() []Entity {
	all := append([]Entity{p.EffectiveSubject()}, p.Memberships...)
	if p.Subject.Kind() == Agent {
		all = append(all, p.Subject)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Belonging is a group that a member belongs to, directly or through another group.
type Belonging struct {
	Membership
	Through Entity // the group that belongs to it; empty for a membership of the member's own
}

// maxDepth limits the groups between a member and a group that passes it on.
const maxDepth = 16

// Belongings is what the directory says about a member.
type Belongings struct {
	Entry MemberEntry // zero if the member is unknown
	All   []Belonging // the active groups that it belongs to, the nearest first, each once
	Over  []Entity    // the deactivated ones of the groups that its key or token states
}

// BelongingsOf are a member's groups. Groups that belong to groups pass their members on, without their roles, through
// at most [maxDepth] groups. A deactivated member belongs to none. stated are the groups that the member's key or token
// states. read returns the entries of several entities.
func BelongingsOf(
	member Entity, stated []Entity, read func([]Entity) (map[Entity]MemberEntry, error),
) (of Belongings, err error) {
	found, err := read(append([]Entity{member}, stated...))
	for _, group := range stated {
		if !found[group].DeactivatedAt.IsZero() {
			of.Over = append(of.Over, group)
		}
	}
	if of.Entry = found[member]; err != nil || !of.Entry.Active() {
		return of, err
	}
	known := map[Entity]bool{member: true}
	level := []Entity{member}
	for depth := 0; depth < maxDepth && len(level) > 0; depth++ {
		var next []Belonging
		for _, e := range level {
			for _, m := range found[e].Groups {
				if known[m.Group] {
					continue
				}
				known[m.Group] = true
				one := Belonging{Membership: m}
				if e != member {
					one.Through, one.Role = e, InGroup
				}
				next = append(next, one)
			}
		}
		level = make([]Entity, len(next))
		for i, one := range next {
			level[i] = one.Group
		}
		if len(next) > 0 {
			found, err = read(level)
		}
		if err != nil {
			return of, err
		}
		for _, one := range next {
			if found[one.Group].Active() {
				of.All = append(of.All, one)
			} else {
				delete(found, one.Group)
			}
		}
	}
	return of, nil
}

type callerKey struct{}

// caller is a principal, and the origin of its request.
type caller struct {
	by     Principal
	origin Origin
}

// WithCaller stores the caller of a request, for records that are written far from the request handler.
func WithCaller(ctx context.Context, by Principal, origin Origin) context.Context {
	return context.WithValue(ctx, callerKey{}, caller{by, origin})
}

// CallerOf is the caller of the request or, without a request, the server itself.
func CallerOf(ctx context.Context) (Principal, Origin) {
	if c, known := ctx.Value(callerKey{}).(caller); known {
		return c.by, c.origin
	}
	return SystemPrincipal(), Origin{}
}

// Entitled tells whether p may act as, or as a member of, e.
func (p Principal) Entitled(e Entity) bool {
	return p.speaksForAny() || p.belongs(e)
}

// speaksForAny tells whether the role reaches every entity. A key that acts for some only reaches no other by the role
// service.
func (p Principal) speaksForAny() bool {
	return !p.Listed && (p.Administers() || p.Role == Service && len(p.ActsForOnly) == 0)
}

// HasKey tells whether p came with a key, not with a token or without either.
func (p Principal) HasKey() bool { return KeyStreams.Has(p.Authentication) }

// SeesAll tells whether p reads everything of its tenant.
func (p Principal) SeesAll() bool {
	return p.OnBehalfOf == "" && (p.Administers() || p.Role == Auditor)
}

// ActsFor tells whether p reads what is meant for e. A principal that acts for another entity never reads what a
// third user owns, whatever its role. If the directory does not know the groups of that entity, only the caller does,
// so a role that acts for any entity is trusted to name them.
func (p Principal) ActsFor(e Entity) bool {
	if p.OnBehalfOf != "" && e.Kind() == User {
		return p.belongs(e)
	}
	return p.SeesAll() || p.Entitled(e)
}

// MaySee tells whether p may know that k exists. Only owners and principals that see everything see deleted and
// erased items. Only admins, auditors and maintainers of a group that it is meant for see a withheld item. Its author,
// and a person who owns it, see one that is proposed.
func (p Principal) MaySee(k *Knowledge) bool {
	if !k.Exists() {
		return false
	}
	if k.Status.Withheld() {
		return p.SeesAll() || p.maintainsScopeOf(k) || k.Status == IsProposed &&
			slices.ContainsFunc(p.Selves(), func(e Entity) bool { return e == k.Owner || slices.Contains(k.Voices.Authors, e) })
	}
	if p.ActsFor(k.Owner) {
		return true
	}
	if k.Status == IsDeleted || k.Status == IsErased {
		return false
	}
	return slices.ContainsFunc(k.Scopes, func(s Scope) bool {
		return s == Public || p.ActsFor(s.Entity())
	})
}

// MayChange tells whether p may revise, share, transfer and delete k.
func (p Principal) MayChange(k *Knowledge) bool {
	return p.Role != Auditor && p.ActsFor(k.Owner)
}

// MayPublish tells whether p may name scope as an audience. A principal that acts for another entity cannot publish
// to a third user.
func (p Principal) MayPublish(scope Scope) bool {
	switch {
	case p.Role == Auditor:
		return false
	case scope == Public:
		return p.PublishPublic || p.Administers()
	default:
		return p.ActsFor(scope.Entity())
	}
}
