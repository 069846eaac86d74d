package oidc

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// Claims names the claims of a token that describe the principal. A dot selects a field of an object:
// realm_access.roles.
type Claims struct {
	User     string // the user's id
	Agent    string // the id of an agent; with a user as well, the agent acts on the user's behalf
	Teams    string // ids, a string or several
	Projects string
	Role     string // member, service, auditor or admin; default: member
}

// ParseClaims parses pairs such as user=email. Claims that are not named have their default names.
func ParseClaims(pairs []string) (Claims, error) {
	c := Claims{User: "sub", Agent: "agent", Teams: "teams", Projects: "projects", Role: "role"}
	fields := map[string]*string{
		"user": &c.User, "agent": &c.Agent, "teams": &c.Teams, "projects": &c.Projects,
		"role": &c.Role,
	}
	for _, pair := range pairs {
		what, claim, found := strings.Cut(pair, "=")
		field, known := fields[strings.TrimSpace(what)]
		if !found || !known {
			return c, fmt.Errorf("%q: must be user=, agent=, teams=, projects= or role= and the name of a claim", pair)
		}
		*field = strings.TrimSpace(claim)
	}
	return c, nil
}

// principal is the principal that claims describe. An invalid id is refused and never changed into a valid one, which
// could belong to another user.
func (c Claims) principal(claims map[string]any) (domain.Principal, error) {
	p := domain.Principal{Role: domain.Member}
	user, err := c.entity(claims, domain.User, c.User)
	if err != nil {
		return p, err
	}
	agent, err := c.entity(claims, domain.Agent, c.Agent)
	if err != nil {
		return p, err
	}
	switch {
	case agent != "":
		p.Subject, p.OnBehalfOf = agent, user
	case user != "":
		p.Subject = user
	default:
		return p, refuse("the token says of nobody whom it is about").WithFix("see ANNALS_OIDC_CLAIMS")
	}
	for kind, claim := range map[string]string{domain.Team: c.Teams, domain.Project: c.Projects} {
		for _, id := range values(claims, claim) {
			if e, err := domain.ParseEntity(kind + ":" + id); err == nil { // an invalid group is ignored
				p.Memberships = append(p.Memberships, e)
			}
		}
	}
	slices.Sort(p.Memberships)
	p.Memberships = slices.Compact(p.Memberships)
	roles := values(claims, c.Role)
	for _, role := range []domain.Role{domain.Admin, domain.Auditor, domain.Service} { // root has no tenant, and no token
		if slices.Contains(roles, string(role)) {
			p.Role = role
			break
		}
	}
	return p, nil
}

func (c Claims) entity(claims map[string]any, kind, claim string) (domain.Entity, error) {
	ids := values(claims, claim)
	if len(ids) == 0 {
		return "", nil
	}
	e, err := domain.ParseEntity(kind + ":" + ids[0])
	if err != nil || len(ids) > 1 {
		return "", refuse("the claim " + claim + " is no id that Annals knows: 1 to 128 of A-Z a-z 0-9 . _ @ -").
			WithFix("name another claim in ANNALS_OIDC_CLAIMS")
	}
	return e, nil
}

// values are the strings of a claim; none if it is missing.
func values(claims map[string]any, name string) []string {
	value, found := claims[name]
	for path := name; !found; {
		first, rest, deeper := strings.Cut(path, ".")
		inner, is := claims[first].(map[string]any)
		if !deeper || !is {
			return nil
		}
		claims, path = inner, rest
		value, found = claims[rest]
	}
	switch v := value.(type) {
	case string:
		if v != "" {
			return []string{v}
		}
	case []any:
		var all []string
		for _, one := range v {
			if s, is := one.(string); is && s != "" {
				all = append(all, s)
			}
		}
		return all
	}
	return nil
}

// checkClaims refuses a token whose own claims show that it is invalid or meant for another server, and says why; the
// bearer can read those claims anyway. It makes no request to the issuer. A token that it accepts is not verified
// yet.
func (i *Issuer) checkClaims(token string) error {
	var head struct {
		Algorithm string `json:"alg"`
	}
	var body struct {
		Issuer   string   `json:"iss"`
		Audience audience `json:"aud"`
	}
	parts := strings.Split(token, ".")
	switch {
	case len(parts) != 3 || !decoded(parts[0], &head) || !decoded(parts[1], &body):
		return refuse("the token cannot be read").WithFix("send it whole, as the issuer gave it")
	case !slices.Contains(algorithms, head.Algorithm):
		return refuse("the token is not signed in a way in which only its issuer can sign").
			WithFix("let the issuer sign with %s", strings.Join(algorithms, ", "))
	case body.Issuer != i.cfg.Issuer:
		return refuse("the token is of another issuer than this server's").
			WithFix("compare its claim iss with ANNALS_OIDC_ISSUER: they must be the same to the letter, a slash at the end " +
				"included")
	case !slices.Contains(body.Audience, i.cfg.Audience):
		return refuse("the token is for another audience than this server").
			WithFix("ask the issuer for one whose claim aud is, or has, what ANNALS_OIDC_AUDIENCE says")
	}
	return nil
}

func decoded(part string, into any) bool {
	plain, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && json.Unmarshal(plain, into) == nil
}

// audience is a string, or a list of strings.
type audience []string

func (a *audience) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*a = audience{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(a))
}
