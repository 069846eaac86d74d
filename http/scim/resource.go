package scim

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	filter "github.com/scim2/filter-parser/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/people"
)

// kind is a type of resources.
type kind struct {
	name, schema           string
	of, around, attributes []string // kinds of entities; those of its members; names in lower case
}

const enterprise = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"

// The directory keeps few of a user's attributes. The others of the standard are accepted and ignored, because
// providers send them by default.
var (
	users = &kind{"User", "urn:ietf:params:scim:schemas:core:2.0:User", []string{domain.User}, nil, strings.Fields(
		`schemas id externalid meta username displayname active name nickname profileurl title usertype preferredlanguage
		locale timezone password emails phonenumbers ims photos addresses groups entitlements roles x509certificates`)}
	groups = &kind{
		"Group", "urn:ietf:params:scim:schemas:core:2.0:Group", domain.GroupKinds,
		[]string{domain.User},
		strings.Fields("schemas id externalid meta displayname members"),
	}
	kinds = map[string]*kind{"Users": users, "Groups": groups}
)

// knows tells whether resources of the kind have an attribute.
func (k *kind) knows(p filter.AttributePath) bool {
	return (p.URI() == "" || strings.EqualFold(p.URI(), k.schema)) &&
		slices.Contains(k.attributes, strings.ToLower(p.AttributeName))
}

// resource is a User, a Group, or a part of one.
type resource map[string]any

// resourceOf shows a member. Among all are the members of a group.
func (k *kind) resourceOf(c *call, m domain.DirectoryMember, all []domain.DirectoryMember) resource {
	at := c.base + Path + k.name + "s/" + url.PathEscape(string(m.Member))
	r := resource{
		"schemas": []string{k.schema}, "id": string(m.Member), "displayName": cmp.Or(m.DisplayName, userName(m)),
	}
	if m.ExternalID != "" {
		r["externalId"] = m.ExternalID
	}
	if k == users {
		r["userName"], r["active"] = userName(m), m.Active()
	} else if k.withMembers(c) {
		members := []resource{}
		for _, u := range all {
			if u.RoleIn(m.Member) != "" {
				members = append(members, resource{"value": string(u.Member), "display": u.DisplayName})
			}
		}
		r["members"] = members
	}
	meta := resource{"resourceType": k.name, "location": at, "created": m.AddedAt.UTC().Format(time.RFC3339)}
	if k == users || k.withMembers(c) { // what is not shown may have changed
		content, _ := json.Marshal(r) // texts can always be encoded
		sum := sha256.Sum256(content)
		meta["version"] = `"` + hex.EncodeToString(sum[:8]) + `"`
	}
	r["meta"] = meta
	return r
}

// versionOf is the version of a resource, which is its ETag.
func versionOf(r resource) string {
	version, _ := r["meta"].(resource)["version"].(string)
	return version
}

// unchanged refuses a change of a resource that has another version than those that the request names.
func (s Server) unchanged(c *call, k *kind, m domain.DirectoryMember) error {
	if c.r.Header.Get("If-Match") == "" {
		return nil
	}
	members, err := s.usersIn(c, m.Member)
	if err == nil && !c.names("If-Match", versionOf(k.resourceOf(c, m, members))) {
		err = domain.Refuse(domain.ErrPrecondition, "the %s has changed since it was read", k.name)
	}
	return err
}

// names tells whether a header has a version, or stands for any.
func (c *call) names(header, version string) bool {
	return slices.ContainsFunc(strings.Split(c.r.Header.Get(header), ","), func(tag string) bool {
		tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
		return tag == "*" || version != "" && tag == version
	})
}

// withMembers tells whether resources are shown with their members, which providers exclude as a rule.
func (k *kind) withMembers(c *call) bool {
	return k == groups && !strings.Contains(c.r.URL.Query().Get("excludedAttributes"), "members")
}

// find is the member of the path. A deactivated group does not exist.
func (s Server) find(c *call, k *kind) (m domain.DirectoryMember, err error) {
	known, err := s.Directory.Known(c, c.by.Tenant, []domain.Entity{domain.Entity(c.id)})
	if err != nil {
		return m, err
	}
	if len(known) == 0 || !slices.Contains(k.of, known[0].Member.Kind()) || k == groups && !known[0].Active() {
		return m, domain.Refuse(domain.ErrNotFound, "there is no %s of this id", k.name)
	}
	return known[0], nil
}

// usersIn are the users in a group.
func (s Server) usersIn(c *call, group domain.Entity) ([]domain.DirectoryMember, error) {
	all, err := s.Directory.InGroup(c, c.by.Tenant, group)
	return slices.DeleteFunc(all, func(u domain.DirectoryMember) bool { return u.Member.Kind() != domain.User }), err
}

// show sends the resource of the path.
func (s Server) show(c *call, k *kind, status int) error {
	m, err := s.find(c, k)
	if err != nil {
		return err
	}
	var members []domain.DirectoryMember
	if k.withMembers(c) {
		members, err = s.usersIn(c, m.Member)
	}
	if err != nil {
		return err
	}
	r := k.resourceOf(c, m, members)
	c.w.Header().Set("Location", r["meta"].(resource)["location"].(string))
	if version := versionOf(r); version != "" {
		c.w.Header().Set("ETag", version)
		if c.r.Method == http.MethodGet && c.names("If-None-Match", version) {
			c.w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	return c.send(status, r)
}

func (s Server) list(c *call, k *kind) error {
	const most = 500
	query, numbers := c.r.URL.Query(), map[string]int{"startIndex": 1, "count": most}
	for name := range numbers {
		if n, err := strconv.Atoi(query.Get(name)); err == nil {
			numbers[name] = n
		} else if query.Has(name) {
			return word("invalidValue").is("%s must be a whole number", name)
		}
	}
	matches, err := k.filter(query.Get("filter"))
	if err != nil {
		return err
	}
	members, err := people.All(c, s.Directory, c.by.Tenant, k.of...)
	if err != nil {
		return err
	}
	var all []domain.DirectoryMember
	if k.withMembers(c) {
		all, err = people.All(c, s.Directory, c.by.Tenant, k.around...)
	}
	if err != nil {
		return err
	}
	found := []resource{}
	for _, m := range members {
		if r := k.resourceOf(c, m, all); (k == users || m.Active()) && matches(r) {
			found = append(found, r)
		}
	}
	start := max(numbers["startIndex"], 1)
	some := found[min(start-1, len(found)):]
	some = some[:min(max(numbers["count"], 0), most, len(some))]
	return c.send(http.StatusOK, map[string]any{
		"schemas":      []string{"urn:ietf:params:scim:api:messages:2.0:ListResponse"},
		"totalResults": len(found), "startIndex": start, "itemsPerPage": len(some), "Resources": some,
	})
}
