package viking

import (
	"cmp"
	"crypto/md5" //nolint:gosec // how spaces have always been named: nothing is kept secret by it
	"encoding/hex"
	"net/http"
	"regexp"
	"slices"

	"github.com/annals-kb/annals/domain"
)

// The headers by which clients name themselves.
const (
	accountHeader = "X-OpenViking-Account"
	agentHeader   = "X-OpenViking-Agent"
)

// tenantHeader names the tenant in the rest of the API.
const tenantHeader = "Annals-Tenant"

// defaultID is the id of a user or an agent without a name.
const defaultID = "default"

// caller is who is calling, in OpenViking's words.
type caller struct {
	domain.Principal
	origin domain.Origin
	user   string // the id of the user
	agent  string // the id of the agent
	space  string // the name of the agent's space, see [spaceOf]
}

func callerOf(r *http.Request) caller {
	by, origin := domain.CallerOf(r.Context())
	c := caller{Principal: by, origin: origin, user: userOf(by), agent: cmp.Or(r.Header.Get(agentHeader), defaultID)}
	c.space = spaceOf(c.user, c.agent)
	return c
}

// userOf is the id of the effective subject.
func userOf(by domain.Principal) string {
	if voter := by.EffectiveSubject(); voter.Kind() == domain.User {
		return voter.ID()
	}
	return defaultID
}

// spaceOf is the name of the space of a user's agent.
func spaceOf(user, agent string) string {
	const short = 6
	sum := md5.Sum([]byte(user + agent)) //nolint:gosec // likewise
	return hex.EncodeToString(sum[:short])
}

var headerID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,127}$`)

// As adds to p the space of the agent that a header names. A caller may name any of its user's agents. The agent's
// space then belongs to the caller, and its content to the user.
func As(h http.Header, p domain.Principal) (domain.Principal, error) {
	agent := h.Get(agentHeader)
	if agent != "" && !headerID.MatchString(agent) {
		var found domain.Problems
		found.Add(agentHeader, "must be 1 to 128 of A-Z a-z 0-9 . _ @ - and begin with a letter or digit")
		return p, found.Err()
	}
	space := domain.Entity(domain.Agent + ":" + spaceOf(userOf(p), cmp.Or(agent, defaultID)))
	p.Memberships = append(slices.Clip(p.Memberships), space)
	return p, nil
}
