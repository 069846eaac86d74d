package domain

import (
	"errors"
	"reflect"
	"slices"
	"time"
)

// Scrubbing is what a tenant changed about what is scrubbed: the state of [ScrubbingStream], in its own log.
type Scrubbing struct {
	Off      []string       `json:"off,omitempty" data:"off,omitempty"` // classes that are left as they are
	Patterns []ScrubPattern `json:"patterns,omitempty" data:"patterns,omitempty"`
}

// ScrubPattern finds secrets that only a tenant knows of.
type ScrubPattern struct {
	Class      string `json:"class"`
	Expression string `json:"expression"`
}

// ScrubbingStream is the stream of the rules for scrubbing, one in the log of each tenant.
const ScrubbingStream = "scrubbing:rules"

// Evolve implements [State].
func (s Scrubbing) Evolve(fact Fact, _ EventMetadata) (State, error) {
	changed, is := fact.(ScrubbingChanged)
	if !is {
		return s, errors.New("not a fact about scrubbing")
	}
	return changed.Rules, nil
}

// ChangeScrubbing asks for other rules. Whoever submits it has seen to it that they can be followed.
type ChangeScrubbing struct {
	By    Principal
	Rules Scrubbing
}

// Validate refuses those who may not. The error matches [ErrForbidden].
func (c ChangeScrubbing) Validate() error {
	if !c.By.IsTenantAdmin() {
		return Refuse(ErrForbidden, "rules for scrubbing are for admins")
	}
	return nil
}

// Stream implements [Command].
func (ChangeScrubbing) Stream() string { return ScrubbingStream }

// Reads implements [Command].
func (ChangeScrubbing) Reads() Reads { return Reads{} }

// Decide implements [Command].
func (c ChangeScrubbing) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	rules := Scrubbing{Off: slices.Compact(slices.Sorted(slices.Values(c.Rules.Off))), Patterns: slices.Clone(c.Rules.Patterns)}
	if now := StateOf[Scrubbing](dc, ScrubbingStream); reflect.DeepEqual(rules, now) ||
		len(rules.Off)+len(rules.Patterns)+len(now.Off)+len(now.Patterns) == 0 {
		return nil, nil
	}
	return []Fact{ScrubbingChanged{Rules: rules}}, nil
}

var (
	_ State   = Scrubbing{}
	_ Command = ChangeScrubbing{}
)
