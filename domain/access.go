package domain

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Entitled tells whether p may act as, or as a member of, e.
func (p Principal) Entitled(e Entity) bool {
	return p.speaksForAny() || p.belongs(e)
}

func (p Principal) speaksForAny() bool {
	return !p.Listed && (p.Administers() || p.Role == Service)
}

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

// AccessState is who may read what at a moment of the log: the directory and the keys, folded from their events.
type AccessState struct {
	streams map[string]*Stream
	keys    []string // their streams, in the order of their creation
}

// AccessFacts are the names of the facts that [AccessState.Take] takes.
func AccessFacts() (names []string) {
	for _, f := range []Fact{
		MemberAdded{},
		MemberDeactivated{},
		MemberReactivated{},
		MemberJoined{},
		MemberLeft{},
		MemberRenamed{},
		KeyCreated{},
		KeyRotated{},
		KeyRevoked{},
		KeyRoleChanged{},
	} {
		names = append(names, f.Name())
	}
	return names
}

// Take folds one more event. Events come in order of their positions. Erased texts do not matter.
func (a *AccessState) Take(e Event) error {
	if a.streams == nil {
		a.streams = map[string]*Stream{}
	}
	s := a.streams[e.Stream]
	if s == nil {
		s = &Stream{Name: e.Stream, State: MemberEntry{}}
		if strings.HasPrefix(e.Stream, KeyStream("")) {
			s.State = Key{}
			a.keys = append(a.keys, e.Stream)
		}
		a.streams[e.Stream] = s
	}
	s.Version = e.Version - 1 // erasures of texts are left out
	return s.Evolve(e.Fact, e.Metadata())
}

// ScopeReader is one reason why a subject may read a scope.
type ScopeReader struct {
	Subject Entity
	// Reason is "directory", "key" for a membership that a key states, "role" of a key, "acts_for" if a key may act for
	// those who read it, or "self".
	Reason  string
	Through []Entity // the groups from the subject's own to the scope, if the reason is the directory
	Key     string   // its prefix, if the reason is a key or its role
	Role    string   // of the key, or in the first group
	Since   time.Time
}

// ReadersOf lists who may read a scope, with every reason, by subject. Keys must be valid at the time. What a token's
// groups allow is not in the log.
func (a *AccessState) ReadersOf(scope Scope, at time.Time) (all []ScopeReader) {
	of := scope.Entity()
	read := func(entities []Entity) (map[Entity]MemberEntry, error) {
		found := map[Entity]MemberEntry{}
		for _, e := range entities {
			if s := a.streams[DirectoryStream(e)]; s != nil {
				found[e], _ = s.State.(MemberEntry)
			}
		}
		return found, nil
	}
	for _, s := range a.streams {
		entry, is := s.State.(MemberEntry)
		if !is || !entry.Active() || slices.Contains(GroupKinds, entry.Member.Kind()) {
			continue
		}
		if scope == Public || entry.Member == of {
			all = append(all, ScopeReader{Subject: entry.Member, Reason: "self", Since: entry.AddedAt})
			continue
		}
		_, groups, _ := BelongingsOf(entry.Member, read) // it never fails
		if r, belongs := readerThrough(entry.Member, groups, of); belongs {
			all = append(all, r)
		}
	}
	for _, name := range a.keys {
		k, _ := a.streams[name].State.(Key)
		member := a.streams[DirectoryStream(k.Subject)]
		if entry, listed := stateOf(member); k.CheckValid(at) != nil || listed && !entry.Active() {
			continue
		}
		r := ScopeReader{
			Subject: k.Subject, Key: KeyPrefix(name), Role: string(k.Role), Since: k.CreatedAt, Reason: "key",
		}
		p := k.Principal("", r.Key)
		switch {
		case p.SeesAll(), p.speaksForAny():
			r.Reason = "role"
		case k.Subject == of || scope == Public:
			r.Reason = "self"
		case slices.Contains(k.Memberships, of):
		case k.ActsFor:
			r.Reason = "acts_for"
		default:
			continue
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(x, y ScopeReader) int {
		return cmp.Or(
			strings.Compare(string(x.Subject), string(y.Subject)), strings.Compare(x.Reason, y.Reason), x.Since.Compare(y.Since),
			strings.Compare(x.Key, y.Key),
		)
	})
	return all
}

func stateOf(s *Stream) (entry MemberEntry, listed bool) {
	if s != nil {
		entry, listed = s.State.(MemberEntry)
	}
	return entry, listed
}

// readerThrough follows the groups of a member up to a group; false if it does not belong to it.
func readerThrough(member Entity, groups []Belonging, of Entity) (ScopeReader, bool) {
	r := ScopeReader{Subject: member, Reason: "directory"}
	for {
		i := slices.IndexFunc(groups, func(b Belonging) bool { return b.Group == of })
		if i < 0 {
			return r, false
		}
		r.Through = slices.Insert(r.Through, 0, of)
		if r.Since.Before(groups[i].Since) {
			r.Since = groups[i].Since // the youngest link
		}
		if of = groups[i].Through; of == "" {
			r.Role = string(groups[i].Role)
			return r, true
		}
	}
}
