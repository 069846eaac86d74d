package console

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// memberKinds are the kinds of the directory's members, and the words for several of them.
func memberKinds() []field {
	return []field{
		{Name: "user", Label: "Users"},
		{Name: "agent", Label: "Agents"},
		{Name: "team", Label: "Teams"},
		{Name: "project", Label: "Projects"},
		{Name: "org", Label: "Organisations"},
	}
}

// people is the page of the directory, with the form that adds a member. A search finds people by subject, too.
type people struct {
	form
	Asked   string       // what is searched
	Experts []api.Expert // who knows about it
	Kinds   []field
	Kind    field // that is listed
	Members []api.Member
	Next    string
}

func memberFields() []field {
	return []field{
		{Name: "id", Label: "Id, a pseudonym that stays for ever", Required: true},
		{Name: "display_name", Label: "Name"},
	}
}

// Groups tells whether groups are listed.
func (d *people) Groups() bool { return slices.Contains(groups, d.Kind.Name) }

// showPeople lists the members of a kind.
func showPeople(p *page) (any, error) {
	data := &people{form: *newForm(p, memberFields())}
	return data, data.read(p)
}

func (d *people) read(p *page) error {
	d.Kinds = memberKinds()
	d.Kind = d.Kinds[0]
	kind := cmp.Or(p.r.PostFormValue("kind"), p.param("kind"))
	if i := slices.IndexFunc(d.Kinds, func(k field) bool { return k.Name == kind }); i >= 0 {
		d.Kind = d.Kinds[i]
	}
	d.Asked = p.param("q")
	if d.Asked != "" && !p.Moment.Past() {
		var found api.Expertise
		err := p.get(&found, url.Values{"q": {d.Asked}, "limit": {"10"}}, "v1", "expertise")
		if d.Experts = found.Items; err != nil && !isRefused(err) { // a question that cannot be searched may be an id
			return err
		}
	}
	query := url.Values{
		"kind": {d.Kind.Name}, "limit": {"100"}, "q": p.values("q"), "cursor": p.values("cursor"),
	}
	var err error
	d.Members, d.Next, err = pageOf[api.Member](p, query, "v1", "directory")
	return err
}

// addMember adds a member, and goes to its page.
func addMember(p *page) (any, error) {
	data := &people{form: *newForm(p, memberFields())}
	data.names = map[string]string{"member": "id"}
	kind := cmp.Or(p.r.PostFormValue("kind"), p.param("kind"), "user")
	member := kind + ":" + data.text("id")
	body := api.NewMember{}
	if name := data.text("display_name"); name != "" {
		body.DisplayName = &name
	}
	request := client.Request{Method: http.MethodPut, Path: []string{"v1", "directory", member}, Body: body}
	_, err := p.write(request, nil)
	if err := data.failed(p, err, "people", data, data.read); err != nil {
		return nil, err
	}
	return goBack(p, peopleActs()[0].Name, "people/"+url.PathEscape(member))
}

// person is the page of a member of the directory.
type person struct {
	api.Member
	Kind      string
	IsGroup   bool
	Subjects  *subjectMap // of a user
	Named     string      // what the lists of groups and members are narrowed to
	Hidden    int         // their lines beyond the longest list
	Acts      []act
	Owns      api.Overview
	Keys      []issuedKey // of the member; for admins
	ByKey     []issuedKey // that belong to the group; for admins
	Enrol     *form       // that adds a member to the group
	Join      *form       // that adds the member to a group
	EraseLink string
}

func showPerson(p *page) (any, error) {
	data, err := personOf(p)
	if err != nil {
		return nil, err
	}
	if err := p.get(&data.Owns, url.Values{"owner": {data.Member.Member}}, "v1", "overview"); err != nil {
		return nil, err
	}
	if data.Kind == "user" && !p.Moment.Past() {
		if data.Subjects, err = readSubjects(p, "member", data.Member.Member); err != nil {
			return nil, err
		}
	}
	data.narrow(p)
	if p.Administers() {
		all, err := readKeys(p)
		if err != nil && !errors.Is(err, client.ErrForbidden) {
			return nil, err
		}
		for _, k := range all {
			if k.State == "valid" && slices.Contains(k.Memberships, data.Member.Member) {
				data.ByKey = append(data.ByKey, k)
			}
		}
		data.Keys = slices.DeleteFunc(all, func(k issuedKey) bool { return k.Subject != data.Member.Member })
	}
	if p.Moment.Past() {
		return data, nil
	}
	for _, a := range peopleActs() {
		if a.Label != "" && p.Administers() && data.fits(a) {
			data.Acts = append(data.Acts, a)
		}
	}
	if data.IsGroup && data.Active && keeps(p, data.Member.Member) {
		data.Enrol = newForm(p, actNamed("enrol").Fields)
	}
	if p.Administers() && data.Active {
		data.Join = newForm(p, actNamed("join").Fields)
	}
	if p.Administers() && data.Kind == "user" {
		data.EraseLink = p.To("privacy/plan", "of", data.Member.Member)
	}
	return data, nil
}

// longestList limits the groups and the members of a page.
const longestList = 50

// narrow keeps the groups and the members whose ids or names contain what is searched, at most so many.
func (d *person) narrow(p *page) {
	d.Named = p.param("named")
	wanted := strings.ToLower(d.Named)
	named := func(texts ...string) bool {
		return slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(strings.ToLower(s), wanted) })
	}
	d.Groups = slices.DeleteFunc(d.Groups, func(g api.Membership) bool { return !named(g.Group) })
	d.Members = slices.DeleteFunc(d.Members, func(m api.GroupMember) bool {
		return !named(m.Member, m.DisplayName)
	})
	d.Hidden = max(0, len(d.Groups)-longestList) + max(0, len(d.Members)-longestList)
	d.Groups, d.Members = firstOf(d.Groups, longestList), firstOf(d.Members, longestList)
}

// Long tells whether the lists need a field that narrows them.
func (d *person) Long() bool { return d.Named != "" || d.Hidden > 0 }

func personOf(p *page) (*person, error) {
	entity := p.r.PathValue("entity")
	kind, _, _ := strings.Cut(entity, ":")
	data := &person{Kind: kind, IsGroup: kind == "team" || kind == "project" || kind == "org"}
	return data, p.get(&data.Member, nil, "v1", "directory", entity)
}

// keeps tells whether the reader may change who belongs to a group: not in the past. The API decides.
func keeps(p *page, group string) bool {
	return !p.Moment.Past() && p.keepsAny(func(g api.Membership) bool { return g.Group == group })
}

// Keeps tells whether the reader administers the tenant or maintains any group.
func (p *page) Keeps() bool { return p.keepsAny(func(api.Membership) bool { return true }) }

// keepsAny tells whether the reader administers the tenant, or maintains a group of some in person.
func (p *page) keepsAny(of func(api.Membership) bool) bool {
	return p.Administers() || p.Caller.OnBehalfOf == "" && slices.ContainsFunc(p.Caller.Groups,
		func(g api.Membership) bool { return g.Through == "" && g.Role == "maintainer" && of(g) })
}

// fits tells whether an act makes sense for a member and has a button.
func (d *person) fits(a act) bool {
	return a.Name == "rename" || a.Name == "deactivate" && d.Active || a.Name == "reactivate" && !d.Active ||
		a.Name == "transfer" && !d.Active && d.Owns.Items > 0
}

// peopleActs are what a reader does to members of the directory. The first names what adding a member has done.
func peopleActs() []act {
	receiver := field{Name: "owner", Label: "New owner of their items. Empty: they stay.", Kinds: anyone}
	role := field{Name: "role", Label: "Role", Values: []string{"member", "maintainer"}}
	return []act{
		{Name: "added", Done: "The directory has the member."},
		{
			Name: "rename", Label: "Rename", Done: "The name is changed.",
			Explain: "The id stays. An erasure destroys the names.", Fields: []field{{Name: "display_name", Label: "Name"}},
		},
		{
			Name: "deactivate", Label: "Deactivate", Done: "The member is deactivated.", Danger: true,
			Explain: "At once it may do nothing, and belongs to nothing. Its keys are revoked for good. What it recorded stays.",
			Fields:  []field{reasonField(), receiver},
		},
		{
			Name: "reactivate", Label: "Reactivate", Done: "The member is active again.", Fields: []field{reasonField()},
			Explain: "It belongs to its groups again. Its keys stay revoked: give it another.",
		},
		{
			Name: "transfer", Label: "Transfer what it owns",
			Explain: "Each of its items gets another owner, as an event in the history of the item.",
			Fields: []field{
				{Name: "owner", Label: "The new owner", Required: true, Kinds: anyone}, reasonField(),
			},
		},
		{
			Name: "enrol", Label: "Add a member", Done: "The group has the member.",
			Explain: "With its next request it reads and writes what the group may.",
			Fields:  []field{{Name: "member", Label: "Member", Required: true, Kinds: anyone}, role},
		},
		{
			Name: "join", Label: "Add to a group", Done: "The group has the member.",
			Explain: "With its next request it reads and writes what the group may.",
			Fields:  []field{{Name: "group", Label: "Group", Required: true, Kinds: groups}, role},
		},
		{
			Name: "role", Label: "Change the role", Done: "The role is changed.", Fields: []field{role},
			Explain: "A maintainer adds and removes the members of the group.",
		},
		{
			Name: "leave", Label: "Remove from the group", Done: "The member does not belong to the group any more.",
			Explain: "With its next request it does not read what only the group may.", Danger: true,
			Fields: []field{reasonField()},
		},
	}
}

func actNamed(name string) act {
	all := peopleActs()
	return all[slices.IndexFunc(all, func(a act) bool { return a.Name == name })]
}
