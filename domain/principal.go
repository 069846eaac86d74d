package domain

import "slices"

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

// OpenPrincipal is the caller of a server in open mode: an admin whose claims are believed.
func OpenPrincipal() Principal {
	return Principal{
		Tenant: DefaultTenant, Subject: "user:default", Role: Admin,
		Authentication: "open", PublishPublic: true,
	}
}

// Voter is whose voice it is: on whose behalf, else the subject.
func (p Principal) Voter() Entity {
	if p.OnBehalfOf != "" {
		return p.OnBehalfOf
	}
	return p.Subject
}

// Administers tells whether p may do anything within its tenant.
func (p Principal) Administers() bool { return p.Role == Admin || p.Role == Root }

// Entitled tells whether p may act as, or as a member of, e.
func (p Principal) Entitled(e Entity) bool {
	if p.Administers() || p.Role == Service {
		return true
	}
	return e == p.Voter() || p.OnBehalfOf == "" && e == p.Subject || slices.Contains(p.Memberships, e)
}

// Entities lists what p is and belongs to, without duplicates.
func (p Principal) Entities() []Entity {
	all := append([]Entity{p.Voter()}, p.Memberships...)
	slices.Sort(all)
	return slices.Compact(all)
}

// SeesAll tells whether p reads everything of its tenant.
func (p Principal) SeesAll() bool { return p.Administers() || p.Role == Auditor }

// MaySee tells whether p may know that k exists. Deleted and erased items are seen only by
// those who own them or see all.
func (p Principal) MaySee(k *Knowledge) bool {
	if !k.Exists() {
		return false
	}
	if p.SeesAll() || p.Entitled(k.Owner) {
		return true
	}
	if k.Status == IsDeleted || k.Status == IsErased {
		return false
	}
	return slices.ContainsFunc(k.Scopes, func(s Scope) bool {
		return s == Public || p.Entitled(s.Entity())
	})
}

// MayChange tells whether p may revise, share, transfer and forget k.
func (p Principal) MayChange(k *Knowledge) bool {
	return p.Role != Auditor && (p.Administers() || p.Entitled(k.Owner))
}

// MayPublish tells whether p may name scope as an audience.
func (p Principal) MayPublish(scope Scope) bool {
	switch {
	case p.Administers():
		return true
	case p.Role == Auditor:
		return false
	case scope == Public:
		return p.PublishPublic
	default:
		return p.Entitled(scope.Entity())
	}
}
