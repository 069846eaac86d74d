package domain

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Entity is a person, a program or a group that may own knowledge or be its audience, written
// kind:id: user:ID, agent:ID, project:ID, team:ID or org:ID. Ids are pseudonyms: they stay in
// the log for ever.
type Entity string

// Scope is an audience: an [Entity], or [Public].
type Scope string

// Public is everyone in the tenant, and no one outside it.
const Public Scope = "public"

// Kinds of entities, nearest first: the order in which search prefers their scopes.
const (
	User    = "user"
	Project = "project"
	Agent   = "agent"
	Team    = "team"
	Org     = "org"
)

// EntityKinds lists all kinds, nearest first.
var EntityKinds = []string{User, Project, Agent, Team, Org}

// errEntity lists the accepted forms.
var errEntity = errors.New("must be one of user:ID, agent:ID, project:ID, team:ID, org:ID")

// ParseEntity reads kind:id. It returns an error that says which forms are accepted.
func ParseEntity(s string) (Entity, error) {
	kind, id, found := strings.Cut(s, ":")
	if !found || !slices.Contains(EntityKinds, kind) {
		return "", errEntity
	}
	if !isID(id, "._@-") {
		return "", fmt.Errorf(
			"the id after %s: must be 1 to 128 of A-Z a-z 0-9 . _ @ - and begin with a letter or digit", kind,
		)
	}
	return Entity(s), nil
}

// isID tells whether s has 1 to 128 letters, digits and marks, and begins with a letter or a digit.
func isID(s, marks string) bool {
	const most = 128
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case i == 0, strings.IndexByte(marks, c) < 0:
			return false
		}
	}
	return s != "" && len(s) <= most
}

// ParseScope reads an entity or "public".
func ParseScope(s string) (Scope, error) {
	if s == string(Public) {
		return Public, nil
	}
	entity, err := ParseEntity(s)
	if errors.Is(err, errEntity) {
		return "", fmt.Errorf("%w, or public", err)
	}
	return entity.Scope(), err
}

// Kind is the part before the colon.
func (e Entity) Kind() string { kind, _, _ := strings.Cut(string(e), ":"); return kind }

// ID is the part after the colon.
func (e Entity) ID() string { _, id, _ := strings.Cut(string(e), ":"); return id }

// OnlyTeam is the one team among groups; empty if there is none, or several.
func OnlyTeam[E ~string](groups []E) (team E) {
	for _, g := range groups {
		switch {
		case Entity(g).Kind() != Team || g == team:
		case team != "":
			return ""
		default:
			team = g
		}
	}
	return team
}

// Scope is the audience that consists of e.
func (e Entity) Scope() Scope { return Scope(e) }

// Entity is the entity that s stands for; for [Public] it is empty.
func (s Scope) Entity() Entity {
	if s == Public {
		return ""
	}
	return Entity(s)
}

// Tier says how near a scope is to the caller of a search.
type Tier int

// Tiers from the nearest, the smallest number, to the widest.
const (
	TierUser Tier = iota + 1
	TierProject
	TierAgent
	TierTeam
	TierOrg
	TierPublic
)

// Tiers is the number of tiers.
const Tiers = int(TierPublic)

// Tier is the tier of s, from the nearest: user, project, agent, team, org, public.
func (s Scope) Tier() Tier {
	if i := slices.Index(EntityKinds, s.Entity().Kind()); i >= 0 {
		return Tier(i + 1)
	}
	return TierPublic
}

func (t Tier) String() string {
	if t >= TierUser && t < TierPublic {
		return EntityKinds[t-1]
	}
	return string(Public)
}

// Visibility summarises the scopes of an item.
type Visibility string

// Visibilities from the narrowest to the widest.
const (
	Private    Visibility = "private" // only the scope of the user or agent that owns it
	Shared     Visibility = "shared"  // users, agents, projects and teams
	OrgWide    Visibility = "org"     // at least one org: scope
	PublicWide Visibility = "public"  // everyone in the tenant
)

var visibilities = []Visibility{Private, Shared, OrgWide, PublicWide}

// VisibilityOf derives the visibility of an item with these scopes and owner.
func VisibilityOf(scopes []Scope, owner Entity) Visibility {
	widest := Private
	for _, scope := range scopes {
		switch {
		case scope == Public:
			return PublicWide
		case scope.Tier() == TierOrg:
			widest = OrgWide
		case (scope != owner.Scope() || isGroup(scope)) && widest == Private:
			widest = Shared
		}
	}
	return widest
}

// isGroup tells whether several users share a scope.
func isGroup(s Scope) bool { return s.Tier() == TierProject || s.Tier() >= TierTeam }
