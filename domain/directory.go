package domain

import (
	"errors"
	"slices"
	"time"
)

// GroupRole is what a member may do in a group.
type GroupRole string

// The roles in a group.
const (
	InGroup    GroupRole = "member"     // reads and writes what the group may
	Maintainer GroupRole = "maintainer" // also adds and removes members
)

// GroupRoles lists all roles in a group.
var GroupRoles = []GroupRole{InGroup, Maintainer}

// GroupKinds are the kinds of entities that have members.
var GroupKinds = []string{Project, Team, Org}

// maxGroups limits the groups that a member belongs to directly.
const maxGroups = 100

// MemberEntry is the state of a user, an agent or a group in the directory. The entity names its stream.
type MemberEntry struct {
	Member        Entity       `json:"member"`
	AddedAt       time.Time    `json:"added_at"`
	DeactivatedAt time.Time    `json:"deactivated_at,omitzero"` // zero if the member is active
	KeysSince     time.Time    `json:"keys_since,omitzero"`     // the newest deactivation; earlier keys are revoked by it
	Groups        []Membership `json:"groups,omitempty"`        // in order of their names
}

// Membership is a member's part in a group.
type Membership struct {
	Group Entity    `json:"group"`
	Role  GroupRole `json:"role"`
	Since time.Time `json:"since"`
}

// DirectoryMember is a member with its entry.
type DirectoryMember struct {
	DisplayName string // empty if it has none, or if it was erased
	ExternalID  string // by which an identity provider knows it; likewise
	UserName    string // by which an identity provider calls it; empty if that is the id
	MemberEntry
}

// MemberStreams are the streams of the members of a kind.
func MemberStreams(kind string) StreamKind {
	return StreamKind{Name: kind, State: MemberEntry{}, Form: 2, Facts: []Fact{
		MemberAdded{}, MemberRenamed{}, MemberDeactivated{}, MemberReactivated{}, MemberJoined{}, MemberLeft{},
	}}
}

// DirectoryStream is the stream of a member of the directory.
func DirectoryStream(member Entity) string { return string(member) }

// Active tells whether the member was added and not deactivated.
func (d MemberEntry) Active() bool { return !d.AddedAt.IsZero() && d.DeactivatedAt.IsZero() }

// Revoked tells whether the member's newest deactivation revoked a key that was created at a time; zero for no key.
func (d MemberEntry) Revoked(created time.Time) bool {
	return !created.IsZero() && !d.KeysSince.IsZero() && !created.After(d.KeysSince)
}

// RoleIn is the member's own role in a group; empty if it does not belong to it directly.
func (d MemberEntry) RoleIn(group Entity) GroupRole {
	for _, m := range d.Groups {
		if m.Group == group {
			return m.Role
		}
	}
	return ""
}

func (d MemberEntry) Evolve(fact Fact, at EventMetadata) (State, error) {
	if _, added := fact.(MemberAdded); added != (at.Version == 1) {
		return d, errors.New("the stream of a member begins with its addition, once")
	}
	switch f := fact.(type) {
	case MemberAdded:
		return MemberEntry{Member: f.Member, AddedAt: at.RecordedAt}, nil
	case MemberRenamed:
	case MemberDeactivated:
		d.DeactivatedAt, d.KeysSince = at.RecordedAt, at.RecordedAt
	case MemberReactivated:
		d.DeactivatedAt = time.Time{}
	case MemberJoined:
		m := Membership{Group: f.Group, Role: f.Role, Since: at.RecordedAt}
		i, found := d.place(f.Group)
		d.Groups = slices.Clone(d.Groups)
		if found {
			m.Since = d.Groups[i].Since
			d.Groups[i] = m
		} else {
			d.Groups = slices.Insert(d.Groups, i, m)
		}
	case MemberLeft:
		if i, found := d.place(f.Group); found {
			d.Groups = slices.Delete(slices.Clone(d.Groups), i, i+1)
		}
	default:
		return d, errors.New("not a fact about a member of the directory")
	}
	return d, nil
}

func (d MemberEntry) place(group Entity) (int, bool) {
	return slices.BinarySearchFunc(d.Groups, group, func(m Membership, e Entity) int {
		switch {
		case m.Group < e:
			return -1
		case m.Group > e:
			return 1
		}
		return 0
	})
}

// OfDirectory is what the commands about a member of the directory have in common.
type OfDirectory struct {
	By     Principal
	Member Entity
}

func (c OfDirectory) Stream() string { return DirectoryStream(c.Member) }

func (c OfDirectory) Reads() Reads { return Reads{} }

// valid names every bad field at once.
func (c OfDirectory) valid(check func(*Problems)) error {
	var p Problems
	if _, err := ParseEntity(string(c.Member)); err != nil {
		p.Add("member", "%s", err)
	}
	check(&p)
	return p.Err()
}

// entry is the member's entry, for an admin.
func (c OfDirectory) entry(dc DecisionContext) (MemberEntry, error) {
	if !c.By.IsTenantAdmin() {
		return MemberEntry{}, Refuse(ErrForbidden, "the directory is kept by admins, in person")
	}
	entry := StateOf[MemberEntry](dc, c.Stream())
	if entry.AddedAt.IsZero() {
		return entry, NoMember(c.Member)
	}
	return entry, nil
}

// memberOf is the entry of a member that is to join or leave.
func memberOf(dc DecisionContext, member Entity) (MemberEntry, error) {
	entry := StateOf[MemberEntry](dc, DirectoryStream(member))
	if entry.AddedAt.IsZero() {
		return entry, NoMember(member).WithFix("add it: annals %s add %s", member.Kind(), member.ID())
	}
	return entry, nil
}

// NoMember refuses a question about a member that was never added. It matches [ErrNotFound].
func NoMember(member Entity) *Refusal {
	return Refuse(ErrNotFound, "%s is not in the directory", member)
}

// PutMember asks to add a user, an agent or a group to the directory, or to give it another display name.
type PutMember struct {
	OfDirectory
	DisplayName *string // nil to leave it as it is
	ExternalID  *string // likewise
	UserName    *string // likewise
}

// Validate names every bad field at once.
func (c PutMember) Validate() error {
	return c.valid(func(p *Problems) {
		ifSet(c.DisplayName, func(s string) { atMost(p, "display_name", s, maxName) })
		ifSet(c.ExternalID, func(s string) { atMost(p, "external_id", s, maxName) })
		ifSet(c.UserName, func(s string) { atMost(p, "user_name", s, maxName) })
	})
}

func (c PutMember) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	_, err := c.entry(dc)
	added := errors.Is(err, ErrNotFound)
	if err != nil && !added || !added && c.DisplayName == nil && c.ExternalID == nil && c.UserName == nil {
		return nil, err
	}
	var before MemberRenamed
	if !added {
		before = c.named(dc)
	}
	now := before
	ifSet(c.DisplayName, func(s string) { now.DisplayName = s })
	ifSet(c.ExternalID, func(s string) { now.ExternalID = s })
	ifSet(c.UserName, func(s string) { now.UserName = s })
	switch {
	case added:
		return []Fact{MemberAdded{
			Member: c.Member, DisplayName: now.DisplayName, ExternalID: now.ExternalID, UserName: now.UserName,
		}}, nil
	case now == before:
		return nil, nil
	}
	return []Fact{now}, nil
}

// named has the member's present names.
func (c OfDirectory) named(dc DecisionContext) MemberRenamed {
	if f, renamed := dc.NewestFact(c.Stream(), MemberRenamed{}.Name(), "").(MemberRenamed); renamed {
		return f
	}
	f, _ := dc.NewestFact(c.Stream(), MemberAdded{}.Name(), "").(MemberAdded)
	return MemberRenamed{DisplayName: f.DisplayName, ExternalID: f.ExternalID, UserName: f.UserName}
}

// DeactivateMember asks to end what a member may do. With Again it asks to end a deactivation.
type DeactivateMember struct {
	OfDirectory
	Reason string
	Again  bool
}

// Validate names every bad field at once.
func (c DeactivateMember) Validate() error {
	return c.valid(func(p *Problems) { atMost(p, "reason", c.Reason, maxReason) })
}

func (c DeactivateMember) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	entry, err := c.entry(dc)
	switch {
	case err != nil || entry.Active() == c.Again:
		return nil, err
	case c.Again:
		return []Fact{MemberReactivated{Reason: c.Reason}}, nil
	case c.Member == c.By.Subject:
		return nil, Refuse(ErrConflict, "an admin cannot deactivate themselves").WithFix("ask another admin")
	}
	return []Fact{MemberDeactivated{Reason: c.Reason}}, nil
}

// JoinGroup asks to make a member part of a group, or to change its role there. Admins and the group's maintainers may
// do so.
type JoinGroup struct {
	OfDirectory
	Group Entity
	Role  GroupRole // default: [InGroup]
	Below int       // how many groups lie below the member, one below the other, if it is a group
}

// Validate names every bad field at once.
func (c JoinGroup) Validate() error {
	return c.valid(func(p *Problems) {
		checkGroup(p, c.Group)
		oneOf(p, "role", c.Role, GroupRoles, false)
	})
}

func checkGroup(p *Problems, group Entity) {
	if _, err := ParseEntity(string(group)); err != nil || !slices.Contains(GroupKinds, group.Kind()) {
		p.Add("group", "must be one of project:ID, team:ID, org:ID")
	}
}

func (c JoinGroup) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	if err := c.By.mayKeep(dc, "members", c.Group); err != nil {
		return nil, err
	}
	entry, err := memberOf(dc, c.Member)
	if err != nil {
		return nil, err
	}
	role := c.Role
	if role == "" {
		role = InGroup
	}
	switch {
	case entry.RoleIn(c.Group) == role:
		return nil, nil
	case !entry.Active():
		return nil, Refuse(ErrConflict, "%s is deactivated", c.Member)
	case entry.RoleIn(c.Group) == "" && len(entry.Groups) >= maxGroups:
		return nil, Refuse(ErrConflict, "%s belongs to %d groups, the most that a member may", c.Member, maxGroups)
	}
	group, err := memberOf(dc, c.Group)
	switch {
	case err != nil:
		return nil, err
	case !group.Active():
		return nil, Refuse(ErrConflict, "%s is deactivated", c.Group)
	}
	above := groupsOf(dc, c.Group)
	if belongsTo(c.Group, above, c.Member) {
		return nil, Refuse(ErrConflict, "%s belongs to %s already, so %s cannot belong to it", c.Group, c.Member, c.Member)
	}
	chain := 1 // of groups that pass on the lowest member
	if n := len(above); n > 0 {
		top, _ := readerThrough(c.Group, above, above[n-1].Group)
		chain += len(top.Through)
	}
	if slices.Contains(GroupKinds, c.Member.Kind()) {
		chain += 1 + c.Below
	}
	if chain > maxDepth {
		return nil, Refuse(ErrConflict, "this would be a chain of %d groups, and at most %d pass on a member",
			chain, maxDepth)
	}
	return []Fact{MemberJoined{Group: c.Group, Role: role}}, nil
}

// groupsOf are the groups that a member belongs to, when a command is decided.
func groupsOf(dc DecisionContext, member Entity) []Belonging {
	of, _ := BelongingsOf(member, nil, func(entities []Entity) (map[Entity]MemberEntry, error) { // it never fails
		found := map[Entity]MemberEntry{}
		for _, e := range entities {
			found[e] = StateOf[MemberEntry](dc, DirectoryStream(e))
		}
		return found, nil
	})
	return of.All
}

// belongsTo tells whether a member is another entity, or belongs to it by its groups.
func belongsTo(member Entity, groups []Belonging, other Entity) bool {
	return member == other || slices.ContainsFunc(groups, func(b Belonging) bool { return b.Group == other })
}

// mayKeep refuses to let p change the members or policies of a group, unless p administers the tenant or maintains the
// group, in person.
func (p Principal) mayKeep(dc DecisionContext, what string, group Entity) error {
	switch {
	case p.IsTenantAdmin():
		return nil
	case p.Role == Auditor:
		return errAuditor()
	case !slices.Contains(GroupKinds, group.Kind()):
		return Refuse(ErrForbidden, "%s that are not of a group are kept by admins, in person", what)
	}
	keeper, kept := StateOf[MemberEntry](dc, DirectoryStream(p.Subject)), StateOf[MemberEntry](dc, DirectoryStream(group))
	if p.OnBehalfOf == "" && keeper.Active() && kept.Active() && keeper.RoleIn(group) == Maintainer {
		return nil
	}
	return Refuse(ErrForbidden, "the %s of %s are kept by its maintainers and by admins", what, group)
}

// LeaveGroup asks to end a member's part in a group. Admins, the group's maintainers and the member may do so.
type LeaveGroup struct {
	OfDirectory
	Group  Entity
	Reason string
}

// Validate names every bad field at once.
func (c LeaveGroup) Validate() error {
	return c.valid(func(p *Problems) {
		checkGroup(p, c.Group)
		atMost(p, "reason", c.Reason, maxReason)
	})
}

func (c LeaveGroup) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	if c.Member != c.By.EffectiveSubject() || c.By.Role == Auditor {
		if err := c.By.mayKeep(dc, "members", c.Group); err != nil {
			return nil, err
		}
	}
	entry, err := memberOf(dc, c.Member)
	if err != nil || entry.RoleIn(c.Group) == "" {
		return nil, err
	}
	return []Fact{MemberLeft{Group: c.Group, Reason: c.Reason}}, nil
}

func (c PutMember) RewriteText(r TextRewriter) Command {
	if c.DisplayName != nil {
		c.DisplayName = new(r.Text(*c.DisplayName))
	}
	return c
}

func (c DeactivateMember) RewriteText(r TextRewriter) Command {
	r.all(&c.Reason)
	return c
}

func (c LeaveGroup) RewriteText(r TextRewriter) Command {
	r.all(&c.Reason)
	return c
}

// StateOwner implements [OwnedState]: the display name is about the member.
func (d MemberEntry) StateOwner() Entity { return d.Member }

var (
	_ OwnedState  = MemberEntry{}
	_ TextCommand = PutMember{}
	_ TextCommand = DeactivateMember{}
	_ Command     = JoinGroup{}
	_ TextCommand = LeaveGroup{}
)
