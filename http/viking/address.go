package viking

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// address is the address of a file or directory: its canonical URI, and the form in which the caller wrote it.
// OpenViking has several forms:
//
//	resources/x, /resources/x               viking:// left out
//	viking://user/memories/…, viking://~/…  the caller's own space
//	viking://user/ID/sessions/S/…           viking://session/ID/S/…
//	viking://tenants/NAME/…                 the caller's own tenant, by its name or by that of one of its organisations
type address struct {
	uri    domain.URI
	tenant string        // of the form viking://tenants/NAME/…; else empty
	beyond bool          // names a tenant that is not the caller's: nothing is found there
	org    domain.Entity // the organisation that was named instead of the tenant; its members see what is written there
	shared domain.URI    // the directory that all agents share, which a search at the address includes; else empty
	own    []domain.URI  // the caller's own directories of knowledge about work, which a search includes
}

// ownNames are the names of directories in a user's space. They are not user ids behind viking://user/.
var ownNames = []string{
	"memories", "resources", "skills", "sessions", "instructions", "profile.md", domain.AbstractName, domain.OverviewName,
}

// hidden are scopes that callers cannot address.
var hidden = []string{"temp", "queue", "upload"}

const (
	scheme  = "viking://"
	tenants = "tenants"
)

// address parses one of the forms. The error matches domain.ErrForbidden if the address leads out of its first
// directory. Any other invalid address gives a domain.Invalid about the field.
func (c caller) address(field, s string) (address, error) {
	path, err := pathOf(field, s)
	if err != nil {
		return address{}, err
	}
	uri, err := domain.ParseURI(scheme + path)
	if err != nil {
		return address{}, fieldsOf(err, func(string) string { return field })
	}
	a := address{}
	names := uri.Names()
	if len(names) > 0 && names[0] == tenants {
		if len(names) == 1 {
			return address{}, invalid(field, "must name a tenant after viking://tenants/")
		}
		a.tenant = names[1]
		if a.tenant != c.Tenant {
			a.org = domain.Entity(domain.Org + ":" + a.tenant)
			a.beyond = !slices.Contains(c.Memberships, a.org)
		}
		names = names[2:]
	}
	a.uri = domain.URIOfNames(c.expand(names)...)
	if len(names) > 1 && names[0] == "~" || isAgentSpace(names) {
		if inside := a.uri.Names()[2:]; len(inside) > 0 && (inside[0] == "memories" || inside[0] == "skills") {
			a.shared = domain.URIOfNames(append([]string{domain.Agent}, inside...)...)
		}
	}
	a.own = c.learnedFor(a.uri.Names())
	if names := a.uri.Names(); len(names) > 0 && slices.Contains(hidden, names[0]) {
		return address{}, invalid(field, "lies in a scope that is not open to callers")
	}
	return a, nil
}

var spaceName = regexp.MustCompile(`^[0-9a-f]{12}$`)

// isAgentSpace tells whether names lead into the space of a user's agent, see [spaceOf].
func isAgentSpace(names []string) bool {
	return len(names) > 1 && names[0] == domain.Agent && spaceName.MatchString(names[1])
}

// join is the address of name in the directory a.
func (a address) join(name string) address {
	if a.uri = a.uri.Join(name); a.shared != "" {
		a.shared = a.shared.Join(name)
	}
	return a
}

// parent is the address of the directory that contains a.
func (a address) parent() address {
	a.uri = a.uri.Parent()
	if a.shared != "" {
		a.shared = a.shared.Parent()
	}
	return a
}

// learnedFor are the directories with what agents learned about work for the caller's user alone. Clients look for
// that knowledge among the memories of agents. A caller that is an agent learns in its own space.
func (c caller) learnedFor(names []string) []domain.URI {
	if me := c.EffectiveSubject(); me.Kind() == domain.Agent && len(names) > 1 {
		switch {
		case names[0] == domain.User && names[1] == c.user:
			return []domain.URI{domain.URIOfNames(append([]string{domain.Agent, me.ID()}, names[2:]...)...)}
		case names[0] == domain.Agent && names[1] == "memories":
			return []domain.URI{domain.URIOfNames(append([]string{domain.Agent, me.ID()}, names[1:]...)...)}
		}
	}
	if isAgentSpace(names) {
		names = slices.Concat(names[:1], names[2:])
	}
	if len(names) < 2 || names[0] != domain.Agent || names[1] != "memories" {
		return nil
	}
	var all []domain.URI
	for _, category := range domain.Categories {
		directory := string(category)
		if category.AboutUser() || len(names) > 2 && names[2] != directory {
			continue
		}
		inside := append([]string{domain.User, c.user, "memories", directory}, names[min(3, len(names)):]...)
		all = append(all, domain.URIOfNames(inside...))
	}
	return all
}

// searchPlaces are the URIs that a search at the address covers.
func (a address) searchPlaces() []domain.URI {
	all := append([]domain.URI{a.uri}, a.own...)
	if a.shared != "" {
		all = append(all, a.shared)
	}
	return all
}

// readPlaces are the addresses that a read at the address covers. In the space of an agent that includes what all
// agents share. For a caller that is an agent, it includes its own space.
func (a address) readPlaces() []address {
	places := []address{a}
	if a.shared != "" && isAgentSpace(a.uri.Names()) {
		places = append(places, address{uri: a.shared, tenant: a.tenant, beyond: a.beyond})
	}
	for _, own := range a.own {
		if own.Within(domain.RootURI.Join(domain.Agent)) {
			places = append(places, address{uri: own, tenant: a.tenant, beyond: a.beyond})
		}
	}
	return places
}

// pathOf is the path after viking:// in s, without a final slash.
func pathOf(field, s string) (string, error) {
	path, complete := strings.CutPrefix(s, scheme)
	switch {
	case s == "":
		return "", invalid(field, "must not be empty")
	case complete:
	case strings.Contains(s, "://"):
		return "", invalid(field, "must begin with viking://")
	default:
		path = strings.TrimPrefix(s, "/")
	}
	return strings.TrimSuffix(path, "/"), nil
}

// expand replaces the short forms.
func (c caller) expand(names []string) []string {
	if len(names) == 0 {
		return nil
	}
	switch {
	case names[0] == "~":
		names = append([]string{domain.User, c.user}, names[1:]...)
	case names[0] == domain.User && len(names) > 1 && names[1] != c.user && slices.Contains(ownNames, names[1]):
		names = append([]string{domain.User, c.user}, names[1:]...)
	}
	if names[0] == domain.User && len(names) > 2 && names[2] == "sessions" {
		names = append([]string{"session", names[1]}, names[3:]...)
	}
	return names
}

// format formats the URI of something at or near the address. It uses the form with the tenant if the caller did,
// else the canonical form.
func (a address) format(uri domain.URI) string {
	if a.tenant == "" {
		return string(uri)
	}
	return string(domain.URIOfNames(append([]string{tenants, a.tenant}, uri.Names()...)...))
}

func (a address) String() string { return a.format(a.uri) }

func invalid(field, format string, values ...any) error {
	var p domain.Problems
	p.Add(field, format, values...)
	return p.Err()
}

// fieldsOf renames the fields of an error to the caller's names.
func fieldsOf(err error, name func(field string) string) error {
	bad, is := errors.AsType[*domain.Invalid](err)
	if !is {
		return err
	}
	var p domain.Problems
	for _, problem := range bad.Problems {
		problem.Field = name(problem.Field)
		p = append(p, problem)
	}
	return p.Err()
}

// bindFromTo reads a body that names two addresses.
func (q *query) bindFromTo() (from, to address, err error) {
	var in struct {
		From string `json:"from_uri"`
		To   string `json:"to_uri"`
	}
	if err := q.bindWrite(&in); err != nil {
		return from, to, err
	}
	if from, err = q.caller.address("from_uri", in.From); err != nil {
		return from, to, err
	}
	to, err = q.caller.address("to_uri", in.To)
	return from, to, err
}
