package domain

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

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
		if KeyStreams.Has(e.Stream) {
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
	readers := map[Entity]bool{of: true} // and the groups of those who read it
	for _, s := range a.streams {
		entry, is := s.State.(MemberEntry)
		if !is || !entry.Active() || slices.Contains(GroupKinds, entry.Member.Kind()) {
			continue
		}
		if scope == Public || entry.Member == of {
			all = append(all, ScopeReader{Subject: entry.Member, Reason: "self", Since: entry.AddedAt})
			readers[entry.Member] = true
		}
		member, _ := BelongingsOf(entry.Member, nil, read) // it never fails
		if r, belongs := readerThrough(entry.Member, member.All, of); belongs {
			all = append(all, r)
			readers[entry.Member] = true
		}
		for _, b := range member.All {
			readers[b.Group] = readers[b.Group] || readers[entry.Member]
		}
	}
	reads := func(e Entity) bool { return readers[e] }
	for _, name := range a.keys {
		k, _ := a.streams[name].State.(Key)
		if entry := stateOf(a.streams[DirectoryStream(k.Subject)]); k.Under(entry).CheckValid(at) != nil ||
			k.InvitedBy != "" || !entry.DeactivatedAt.IsZero() {
			continue
		}
		r := ScopeReader{
			Subject: k.Subject, Key: KeyStreams.ID(name), Role: string(k.Role), Since: k.CreatedAt, Reason: "key",
		}
		p := k.Principal("", r.Key)
		switch {
		case p.SeesAll(), p.speaksForAny():
			r.Reason = "role"
		case k.Subject == of || scope == Public:
			r.Reason = "self"
		case slices.Contains(k.Memberships, of) && stateOf(a.streams[DirectoryStream(of)]).DeactivatedAt.IsZero():
		case k.ActsFor && (len(k.ActsForOnly) == 0 || slices.ContainsFunc(k.ActsForOnly, reads)):
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

func stateOf(s *Stream) (entry MemberEntry) {
	if s != nil {
		entry, _ = s.State.(MemberEntry)
	}
	return entry
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
