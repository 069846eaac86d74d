package domain

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Scrubbing is a tenant's own scrubbing rules: the state of [ScrubbingStream], in the tenant's log.
type Scrubbing struct {
	Off      []string       `json:"off,omitempty" data:"off,omitempty"` // classes that are not scrubbed
	Patterns []ScrubPattern `json:"patterns,omitempty" data:"patterns,omitempty"`
	Allow    []string       `json:"allow,omitempty" data:"allow,omitempty"` // SCOPE=CLASS: see [Scrubbing.OffFor]
}

// OffFor are the classes that all of these scopes allow. They are not scrubbed from an item with these scopes.
func (s Scrubbing) OffFor(scopes []Scope) (off []string) {
	for _, allowed := range s.Allow {
		_, class, _ := strings.Cut(allowed, "=")
		forbids := func(scope Scope) bool { return !slices.Contains(s.Allow, string(scope)+"="+class) }
		if len(scopes) > 0 && !slices.ContainsFunc(scopes, forbids) {
			off = append(off, class)
		}
	}
	return off
}

// ScrubPattern finds secrets that are specific to a tenant.
type ScrubPattern struct {
	Class      string `json:"class"`
	Expression string `json:"expression"`
}

// ScopesAfter are the scopes that an item has after a command about it.
func ScopesAfter(command Command, k *Knowledge) []Scope {
	switch c := command.(type) {
	case Remember:
		if !k.Exists() || !c.assumed.scopes {
			return c.Knowledge.Scopes
		}
	case Revise:
		if c.Scopes != nil {
			return c.Scopes
		}
	}
	return k.Scopes
}

// Redactions says what was or would be removed from texts, such as "email=1,phone=2".
func Redactions(byClass map[string]int) string {
	var all []string
	for _, class := range slices.Sorted(maps.Keys(byClass)) {
		all = append(all, fmt.Sprintf("%s=%d", class, byClass[class]))
	}
	return strings.Join(all, ",")
}

var ScrubbingStreams = StreamKind{Name: "scrubbing", State: Scrubbing{}, Form: 1, Facts: []Fact{ScrubbingChanged{}}}

// ScrubbingStream is the stream of scrubbing rules, one per tenant.
var ScrubbingStream = ScrubbingStreams.Of("rules")

func (s Scrubbing) Evolve(fact Fact, _ EventMetadata) (State, error) {
	changed, is := fact.(ScrubbingChanged)
	if !is {
		return s, errors.New("not a fact about scrubbing")
	}
	return changed.Rules, nil
}

// ChangeScrubbing asks for other rules. The caller has validated the patterns.
type ChangeScrubbing struct {
	By    Principal
	Rules Scrubbing
}

// Validate refuses callers that are not admins, and bad scopes. The error matches [ErrForbidden] or [ErrInvalid].
func (c ChangeScrubbing) Validate() error {
	if !c.By.IsTenantAdmin() {
		return Refuse(ErrForbidden, "rules for scrubbing are for admins")
	}
	var p Problems
	for i, allowed := range c.Rules.Allow {
		scope, _, _ := strings.Cut(allowed, "=")
		if _, err := ParseScope(scope); err != nil {
			p.Add(fmt.Sprintf("allow[%d]", i), "%s", err)
		}
	}
	return p.Err()
}

func (ChangeScrubbing) Stream() string { return ScrubbingStream }

func (ChangeScrubbing) Reads() Reads { return Reads{} }

func (c ChangeScrubbing) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	rules := Scrubbing{
		Off: slices.Compact(slices.Sorted(slices.Values(c.Rules.Off))), Patterns: slices.Clone(c.Rules.Patterns),
		Allow: slices.Compact(slices.Sorted(slices.Values(c.Rules.Allow))),
	}
	if now := StateOf[Scrubbing](dc, ScrubbingStream); reflect.DeepEqual(rules, now) ||
		len(rules.Off)+len(rules.Patterns)+len(rules.Allow)+len(now.Off)+len(now.Patterns)+len(now.Allow) == 0 {
		return nil, nil
	}
	return []Fact{ScrubbingChanged{Rules: rules}}, nil
}

var (
	_ State   = Scrubbing{}
	_ Command = ChangeScrubbing{}
)

// Scrub rewrites the text of an event and counts what it removed, by class; nil if it removed nothing.
type Scrub func(text json.RawMessage) (clean json.RawMessage, found map[string]int, err error)

// MostRedactions limits the texts that one command redacts. The rest takes further commands.
const MostRedactions = 1000

// Redact asks to remove what a scrubbing finds from the recorded texts of a stream, for good. Only admins may do so.
// A redacted text may exceed the length limits.
type Redact struct {
	By       Principal
	Of       string // the stream
	From, To int64  // positions, both included
	Scrub    Scrub
}

func (c Redact) Stream() string { return c.Of }

func (c Redact) Reads() Reads { return Reads{} }

func (c Redact) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	if !c.By.IsTenantAdmin() {
		return nil, Refuse(ErrForbidden, "redacting what is recorded is for admins")
	}
	var facts []Fact
	for _, w := range dc.TextsOf(c.Of) {
		if w.Position < c.From || w.Position > c.To {
			continue
		}
		text, found, err := c.Scrub(w.Text)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			continue
		}
		facts = append(facts, Redacted{Events: append([]string{w.EventID}, w.Instead...), Redacted: found, Text: text})
		if len(facts) == MostRedactions {
			break
		}
	}
	if id, isItem := ItemOf(c.Of); isItem && len(facts) > 0 {
		if k := dc.Knowledge(id); k.Held {
			return nil, onHold(dc, k)
		}
	}
	return facts, nil
}

// Refold is an item at a version of its stream, with the redactions of the whole history applied. Each redacted event
// gets its replacement text. history must be complete and in order; read decodes an event with another text.
func Refold(
	id string, history []Event, through int64, policy ConfidencePolicy, read func(Event, json.RawMessage) (Event, error),
) (*Knowledge, error) {
	instead := map[string]json.RawMessage{}
	for _, event := range history {
		if redacted, is := event.Fact.(Redacted); is && len(event.Text) > 0 {
			for _, replaced := range redacted.Events {
				instead[replaced] = event.Text
			}
		}
	}
	k := &Knowledge{ID: id}
	for _, event := range history {
		if event.Version > through {
			break
		}
		if text, replaced := instead[event.EventID]; replaced {
			var err error
			if event, err = read(event, text); err != nil {
				return nil, err
			}
		}
		if err := k.Evolve(event.Fact, event.Metadata(), policy); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// idsOf are the ids of the events of these texts.
func idsOf(texts []RecordedText) []string {
	ids := make([]string, len(texts))
	for i, w := range texts {
		ids[i] = w.EventID
	}
	return slices.Clip(ids)
}

var _ Command = Redact{}

// Detection is a secret in a recorded text that the current scrubbing rules would remove. It does not contain the
// secret.
type Detection struct {
	Position int64
	EventID  string
	Name     string // of the event
	Stream   string
	Field    string // of the event's text
	Class    string
	Count    int
	InName   bool // it is in a URI or a key, which cannot be redacted
}

// Compare orders detections by their locations.
func (f Detection) Compare(other Detection) int {
	return cmp.Or(
		cmp.Compare(f.Position, other.Position), strings.Compare(f.Field, other.Field), strings.Compare(f.Class, other.Class),
	)
}

// Redaction is the result of redacting the texts of a stream.
type Redaction struct {
	Stream   string
	Events   []string       // ids of the redaction events
	Redacted map[string]int // by class
	Err      error          // why the redaction stopped
	More     bool           // the time was up before all texts were redacted
}

// Add adds the result of one command.
func (r *Redaction) Add(result Result) {
	r.Err = result.Err
	for _, event := range result.Receipt.Events {
		r.Events = append(r.Events, event.EventID)
		if redacted, is := event.Fact.(Redacted); is {
			for class, n := range redacted.Redacted {
				r.Redacted[class] += n
			}
		}
	}
}
