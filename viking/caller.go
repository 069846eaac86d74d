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

// tenantHeader is what an account is named by elsewhere.
const tenantHeader = "Annals-Tenant"

// defaultID is the id of a user or an agent that was not named.
const defaultID = "default"

// caller is who is calling, in OpenViking's words.
type caller struct {
	domain.Principal
	origin domain.Origin
	user   string // the id of the user
	agent  string // the id of the agent
	space  string // of the two together
}

func callerOf(r *http.Request) caller {
	by, origin := domain.CallerOf(r.Context())
	c := caller{Principal: by, origin: origin, user: userOf(by), agent: cmp.Or(r.Header.Get(agentHeader), defaultID)}
	c.space = spaceOf(c.user, c.agent)
	return c
}

// userOf is the user who calls or is acted for.
func userOf(by domain.Principal) string {
	if voter := by.EffectiveSubject(); voter.Kind() == domain.User {
		return voter.ID()
	}
	return defaultID
}

// spaceOf is the name of the space that a user's agent has for itself.
func spaceOf(user, agent string) string {
	const short = 6
	sum := md5.Sum([]byte(user + agent)) //nolint:gosec // likewise
	return hex.EncodeToString(sum[:short])
}

var headerID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,127}$`)

// As is who is calling, with the space of the agent that a header names. Each caller may say which of the user's agents
// it is. That agent's own space is the caller's, as a place: what lies there is the user's.
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
