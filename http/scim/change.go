package scim

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	filter "github.com/scim2/filter-parser/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/people"
)

// why is recorded with deactivations.
const why = "the identity provider did so, by SCIM"

// state is what a provider can change of a member.
type state struct {
	of     *kind
	member domain.Entity
	active bool

	name, external, user string
	members, users       map[domain.Entity]bool // of a group; all that there are
	whole                bool                   // a resource is applied, in which attributes of others are ignored
}

func stateOf(k *kind, m domain.DirectoryMember, all []domain.DirectoryMember) state {
	s := state{of: k, member: m.Member, name: m.DisplayName, external: m.ExternalID, user: userName(m), active: m.Active()}
	s.members, s.users = map[domain.Entity]bool{}, map[domain.Entity]bool{}
	for _, u := range all {
		s.users[u.Member] = true
		if k == groups && u.RoleIn(m.Member) != "" {
			s.members[u.Member] = true
		}
	}
	return s
}

// operation is one of a PATCH. POST and PUT have one, with the whole resource.
type operation struct {
	Op, Path string
	Value    any
}

// change answers POST, PUT and PATCH. What a PUT leaves out stays as it is.
func (s Server) change(c *call, k *kind) error {
	var body struct{ Operations []operation }
	read, whole, status := any(&body), c.r.Method != http.MethodPatch, http.StatusOK
	if whole {
		body.Operations = []operation{{Op: "replace", Value: map[string]any{}}}
		read = &body.Operations[0].Value
	}
	if err := c.read(read); err != nil {
		return err
	} else if len(body.Operations) == 0 {
		return word("invalidSyntax").is("Operations is missing")
	}
	find := s.find
	if c.r.Method == http.MethodPost {
		status = http.StatusCreated
		find = func(c *call, k *kind) (domain.DirectoryMember, error) { return s.begin(c, k, body.Operations[0].Value) }
	}
	m, err := find(c, k)
	if err != nil {
		return err
	}
	if err := s.unchanged(c, k, m); err != nil {
		return err
	}
	all, err := people.All(c, s.Directory, c.by.Tenant, k.around...)
	if err != nil {
		return err
	}
	before := stateOf(k, m, all)
	before.active = before.active || m.AddedAt.IsZero() // as a member that is added
	after := before
	after.whole, after.members = whole, maps.Clone(before.members)
	if status == http.StatusCreated {
		after.active, after.members = true, map[domain.Entity]bool{}
	}
	for _, o := range body.Operations {
		if err := after.apply(o); err != nil {
			return err
		}
	}
	if !strings.EqualFold(after.user, before.user) && status != http.StatusCreated {
		known, err := people.All(c, s.Directory, c.by.Tenant, domain.User)
		if err := errors.Join(err, free(known, after.user)); err != nil {
			return err
		}
	}
	if err := s.record(c, before, after, nil); err != nil {
		return err
	}
	return s.show(c, k, status)
}

// begin is find for the resource that a POST is to make.
func (s Server) begin(c *call, k *kind, sent any) (m domain.DirectoryMember, err error) {
	body, _ := sent.(map[string]any)
	attribute := map[*kind]string{users: "userName", groups: "displayName"}[k]
	name, _ := body[attribute].(string)
	if domain.IsBlank(name) {
		return m, word("invalidValue").is("%s must not be empty", attribute)
	}
	known, err := people.All(c, s.Directory, c.by.Tenant, k.of...)
	if err != nil {
		return m, err
	}
	if m.Member = groupFor(body["externalId"], name); k == users {
		m.Member = userFor(known, name)
		err = free(known, name)
	}
	if err != nil {
		return m, err
	}
	for _, other := range known {
		if strings.EqualFold(string(other.Member), string(m.Member)) && (k == users || other.Active()) {
			return m, domain.Refuse(domain.ErrTaken, "%s is in the directory", other.Member)
		} else if other.Member == m.Member { // a group comes back
			m = other
		}
	}
	c.id = string(m.Member)
	return m, nil
}

// userName is what a provider calls a user.
func userName(m domain.DirectoryMember) string { return cmp.Or(m.UserName, m.Member.ID()) }

// free refuses a user name that a member has.
func free(known []domain.DirectoryMember, name string) error {
	for _, m := range known {
		if m.Member.Kind() == domain.User && strings.EqualFold(userName(m), name) {
			return domain.Refuse(domain.ErrTaken, "%s has this userName", m.Member)
		}
	}
	return nil
}

// userFor is the id of a new user: the user name, or a hash of it if it has other characters or was that of another
// user before.
func userFor(known []domain.DirectoryMember, name string) domain.Entity {
	user, err := domain.ParseEntity(domain.User + ":" + name)
	if err != nil || slices.ContainsFunc(known, func(m domain.DirectoryMember) bool {
		return strings.EqualFold(string(m.Member), string(user))
	}) {
		return hashed(domain.User+":user-", strings.ToLower(name))
	}
	return user
}

// hashed is an entity that is named by the hash of a name.
func hashed(prefix, name string) domain.Entity {
	sum := sha256.Sum256([]byte(name))
	return domain.Entity(prefix + hex.EncodeToString(sum[:8]))
}

// groupFor names a new group like the claims of tokens do: by its id, or else by its name, at the provider.
func groupFor(externalID any, name string) domain.Entity {
	external, _ := externalID.(string)
	for _, id := range []string{external, strings.ReplaceAll(strings.TrimSpace(name), " ", "-")} {
		if team, err := domain.ParseEntity(domain.Team + ":" + id); err == nil {
			return team
		}
	}
	return hashed(domain.Team+":group-", name)
}

func (s *state) apply(o operation) error {
	op := strings.ToLower(o.Op) // Entra ID writes Replace
	fields, whole := o.Value.(map[string]any)
	switch {
	case op != "add" && op != "replace" && op != "remove":
		return word("invalidSyntax").is("op must be add, replace or remove")
	case o.Path != "":
		return s.set(op, o.Path, o.Value)
	case op == "remove":
		return word("noTarget").is("remove needs a path")
	case !whole:
		return word("invalidValue").is("without a path, value must be an object")
	}
	for _, path := range slices.Sorted(maps.Keys(fields)) {
		if err := s.set(op, path, fields[path]); err != nil {
			return err
		}
	}
	return nil
}

// set applies one operation to one attribute.
func (s *state) set(op, path string, value any) error {
	p, err := filter.ParsePath([]byte(path))
	switch known := err == nil && s.of.knows(p.AttributePath); {
	case strings.EqualFold(path, enterprise), strings.EqualFold(p.AttributePath.URI(), enterprise), s.whole && !known:
		return nil
	case !known:
		return word("invalidPath").is("a %s has no attribute %s", s.of.name, path)
	}
	attribute := strings.ToLower(p.AttributePath.AttributeName)
	kept := slices.Contains([]string{"members", "displayname", "externalid", "active", "username", "id"}, attribute)
	if kept && (p.AttributePath.SubAttribute != nil || p.SubAttribute != nil ||
		p.ValueExpression != nil && attribute != "members") {
		return word("invalidPath").is("%s has no parts that can be changed", attribute)
	} else if attribute == "members" {
		return s.setMembers(op, p.ValueExpression, value)
	} else if op == "remove" {
		value = nil
	}
	text, isText := value.(string)
	switch attribute {
	case "displayname", "externalid":
		if !isText && value != nil {
			return word("invalidValue").is("%s must be a string", path)
		}
		*map[string]*string{"displayname": &s.name, "externalid": &s.external}[attribute] = text
	case "active":
		is, isBool := value.(bool)
		if !isBool { // Entra ID writes "False"
			if is, err = strconv.ParseBool(strings.ToLower(text)); err != nil {
				return word("invalidValue").is("active must be true or false")
			}
		}
		s.active = is
	case "username":
		if domain.IsBlank(text) {
			return word("invalidValue").is("userName must be a text that is not empty")
		}
		s.user = text
	case "id", "groups":
		if s.whole {
			return nil
		} else if text == "" || !strings.EqualFold(text, s.member.ID()) && text != string(s.member) {
			return word("mutability").is("%s cannot be changed", path)
		}
	}
	return nil
}

func (s *state) setMembers(op string, which filter.Expression, value any) error {
	if which != nil {
		matches, err := part.test(which)
		if err == nil && op != "remove" {
			err = word("invalidPath").is("a filter can only choose members to remove")
		}
		maps.DeleteFunc(s.members, func(e domain.Entity, _ bool) bool {
			return err == nil && matches(resource{"value": string(e)})
		})
		return err
	}
	list, several := value.([]any)
	if !several && value != nil {
		list = []any{value}
	}
	if op == "replace" || op == "remove" && value == nil {
		clear(s.members)
	}
	for _, one := range list {
		fields, _ := one.(map[string]any)
		id, _ := fields["value"].(string)
		switch e := domain.Entity(id); {
		case op == "remove":
			delete(s.members, e)
		case !s.users[e]:
			return word("invalidValue").is("members must be objects, each with the id of a User as value")
		default:
			s.members[e] = true
		}
	}
	return nil
}

// record records what differs between two states, and the departure from groups, all or nothing.
func (s Server) record(c *call, before, after state, leaving []domain.Membership) error {
	about := func(member domain.Entity) domain.OfDirectory { return domain.OfDirectory{By: c.by, Member: member} }
	put := domain.PutMember{OfDirectory: about(after.member)}
	if after.name != before.name {
		put.DisplayName = &after.name
	}
	if after.external != before.external {
		put.ExternalID = &after.external
	}
	if after.user != before.user {
		put.UserName = new("") // the id
		if after.user != after.member.ID() {
			put.UserName = &after.user
		}
	}
	if err := put.Validate(); err != nil {
		return err
	}
	as := domain.Submission{Command: put, By: c.by, Origin: c.origin}
	if after.active != before.active {
		as.Then = append(as.Then, domain.DeactivateMember{OfDirectory: about(after.member), Again: after.active, Reason: why})
	}
	for _, e := range slices.Sorted(maps.Keys(after.users)) {
		if before.members[e] && !after.members[e] {
			as.Then = append(as.Then, domain.LeaveGroup{OfDirectory: about(e), Group: after.member})
		} else if after.members[e] && !before.members[e] {
			as.Then = append(as.Then, domain.JoinGroup{OfDirectory: about(e), Group: after.member})
		}
	}
	for _, m := range leaving {
		as.Then = append(as.Then, domain.LeaveGroup{OfDirectory: about(after.member), Group: m.Group})
	}
	if _, err := s.Writer.Submit(c, as); err != nil || after.active || !before.active {
		return err
	}
	known, err := s.Directory.Known(c, c.by.Tenant, []domain.Entity{after.member})
	if err != nil || len(known) == 0 {
		return err
	}
	as.Then = nil
	_, err = people.RevokeKeys(c, s.Keys, s.Writer, as, after.member, known[0].DeactivatedAt, why)
	return err
}

// remove deactivates a user, who leaves all groups, or a group, which all users leave.
func (s Server) remove(c *call, k *kind) error {
	m, err := s.find(c, k)
	if err != nil {
		return err
	}
	if err := s.unchanged(c, k, m); err != nil {
		return err
	}
	var members []domain.DirectoryMember
	if k == groups {
		members, err = s.usersIn(c, m.Member)
	}
	if err != nil {
		return err
	}
	before := stateOf(k, m, members)
	after := before
	after.active, after.members = false, nil
	if err := s.record(c, before, after, m.Groups); err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}
