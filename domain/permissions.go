package domain

import "slices"

// Entitled tells whether p may act as, or as a member of, e.
func (p Principal) Entitled(e Entity) bool {
	return p.speaksForAny() || p.belongs(e)
}

func (p Principal) speaksForAny() bool { return p.Administers() || p.Role == Service }

// SeesAll tells whether p reads everything of its tenant.
func (p Principal) SeesAll() bool {
	return p.OnBehalfOf == "" && (p.Administers() || p.Role == Auditor)
}

// ActsFor tells whether p reads what is meant for e. A principal that acts for another entity never reads what a
// third user owns, whatever its role. Only the caller knows the groups of that entity, so a role that acts for any
// entity is trusted to name them.
func (p Principal) ActsFor(e Entity) bool {
	if p.OnBehalfOf != "" && e.Kind() == User {
		return p.belongs(e)
	}
	return p.SeesAll() || p.Entitled(e)
}

// MaySee tells whether p may know that k exists. Only owners and principals that see everything see deleted and
// erased items.
func (p Principal) MaySee(k *Knowledge) bool {
	if !k.Exists() {
		return false
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
