package domain

import (
	"errors"
	"time"
)

// LearnedFor says for whom lessons of sessions about tools, skills, patterns and antipatterns are.
type LearnedFor string

// The values of [LearnedFor].
const (
	LearnedShared  LearnedFor = "shared"  // everyone in the tenant, if the caller may publish to them
	LearnedTeam    LearnedFor = "team"    // the caller's only team, if there is one
	LearnedPrivate LearnedFor = "private" // as for all other lessons about work
)

// Audience is for whom the lessons of a caller are; empty for the caller alone.
func (l LearnedFor) Audience(by Principal) Scope {
	to := map[LearnedFor]Scope{LearnedShared: Public, LearnedTeam: OnlyTeam(by.Memberships).Scope()}[l]
	if to == "" || !by.MayPublish(to) {
		return ""
	}
	return to
}

var LearningStreams = StreamKind{Name: "learning", State: LearningChanged{}, Form: 1, Facts: []Fact{LearningChanged{}}}

// LearningStream is the stream of a tenant's [LearnedFor], in the tenant's log.
var LearningStream = LearningStreams.Of("rule")

func (l LearningChanged) Evolve(fact Fact, _ EventMetadata) (State, error) {
	changed, is := fact.(LearningChanged)
	if !is {
		return l, errors.New("not a fact about learning")
	}
	return changed, nil
}

// ChangeLearning asks for another rule.
type ChangeLearning struct {
	By         Principal
	LearnedFor LearnedFor
}

// Validate refuses unknown values, and callers that are not admins.
func (c ChangeLearning) Validate() error {
	if !c.By.IsTenantAdmin() {
		return Refuse(ErrForbidden, "what lessons are shared is for admins")
	}
	var p Problems
	oneOf(&p, "learned_for", c.LearnedFor, []LearnedFor{LearnedShared, LearnedTeam, LearnedPrivate}, true)
	return p.Err()
}

func (ChangeLearning) Stream() string { return LearningStream }

func (ChangeLearning) Reads() Reads { return Reads{} }

func (c ChangeLearning) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	if changed := (LearningChanged{c.LearnedFor}); changed != StateOf[LearningChanged](dc, LearningStream) {
		return []Fact{changed}, nil
	}
	return nil, nil
}

var (
	_ State   = LearningChanged{}
	_ Command = ChangeLearning{}
)
