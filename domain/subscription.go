package domain

import (
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
)

// SubscribedEvents are the events that a subscription can follow, by the word for them, with the names of their facts.
var SubscribedEvents = map[string][]string{
	"remembered": {Remembered{}.Name(), Accepted{}.Name()},
	"revised":    {Revised{}.Name(), Rescoped{}.Name(), Transferred{}.Name(), Moved{}.Name()},
	"confirmed":  {Confirmed{}.Name()},
	"stale":      {ReportedStale{}.Name()},
	"harmful":    {FoundHarmful{}.Name()},
	"contested":  {FoundHarmful{}.Name(), ReportedStale{}.Name(), ReviewProposed{}.Name()}, // see FollowsFact
	"helpful":    {FoundHelpful{}.Name()},
	"merged":     {Merged{}.Name(), Unmerged{}.Name()},
	"superseded": {Superseded{}.Name()},
	"deleted":    {Deleted{}.Name()},
	"restored":   {Restored{}.Name()},
}

// UsualEvents are those that a subscription follows unless it names others.
var UsualEvents = []string{
	"contested", "deleted", "harmful", "merged", "remembered", "restored", "revised", "stale", "superseded",
}

// Why a subscription was paused or has ended.
const (
	CauseAsked  = "asked"  // its subscriber or an admin asked for it
	CauseRights = "rights" // the key was revoked or has expired, or the subscriber or who acts for it was deactivated
	CauseGone   = "gone"   // the receiver answered that it is gone
	CauseErased = "erased" // its texts were erased
)

// Following says which items a subscription follows. Exactly one field is set.
type Following struct {
	Scope Scope
	Item  string
	Tag   string // "key=value", or a label
	Query string // words that the item must all contain
}

// Subscription is the state of a subscription. Its id names its stream. Its tag, query, note and URL are texts.
type Subscription struct {
	Subscriber     Entity    `json:"subscriber"`
	By             Entity    `json:"by,omitempty"` // who acted for the subscriber; empty for themselves
	Authentication string    `json:"authentication"`
	Follows        string    `json:"follows"` // "scope", "item", "tag" or "query"
	Scope          Scope     `json:"scope,omitempty"`
	Item           string    `json:"item,omitempty"`
	Events         []string  `json:"events"`
	Webhook        bool      `json:"webhook,omitempty"`
	CreatedAt      time.Time `json:"created_at"`
	After          int64     `json:"after"` // the position of its creation: later events are delivered
	PausedAt       time.Time `json:"paused_at,omitzero"`
	PausedFrom     int64     `json:"paused_from,omitempty"`  // the position of the newest pause
	ResumedFrom    int64     `json:"resumed_from,omitempty"` // the position of its end; 0 while it lasts
	EndedAt        time.Time `json:"ended_at,omitzero"`
	RotatedAt      time.Time `json:"rotated_at,omitzero"`
	Cause          string    `json:"cause,omitempty"` // of the pause or the end
}

// Subscribed is a subscription with its texts, which are empty if they were erased.
type Subscribed struct {
	ID      string
	Created string // the id of the event that created it
	Subscription
	Tag, Query, URL, Note string
}

var SubscriptionStreams = StreamKind{
	Name: "subscription", State: Subscription{}, Form: 1, KeepsRights: true,
	Facts: []Fact{
		SubscriptionCreated{}, SubscriptionPaused{}, SubscriptionResumed{}, SubscriptionRotated{}, SubscriptionEnded{},
	},
}

// Active tells whether the subscription takes new events.
func (s Subscription) Active() bool { return s.PausedAt.IsZero() && s.EndedAt.IsZero() }

// Takes tells whether a webhook takes the event at a position: after its creation, and not during its newest pause.
func (s Subscription) Takes(position int64) bool {
	paused := s.PausedFrom > 0 && position > s.PausedFrom && (s.ResumedFrom == 0 || position < s.ResumedFrom)
	return s.Webhook && s.EndedAt.IsZero() && position > s.After && !paused
}

// Names are the names of the facts that it follows.
func (s Subscription) Names() (names []string) {
	for _, word := range s.Events {
		names = append(names, SubscribedEvents[word]...)
	}
	if s.Follows == "scope" { // its subscriber must know what is withheld
		names = append(names, ContainmentApplied{}.Name())
	}
	return names
}

// FollowsFact tells whether it follows a fact about k: contested does if k is, see [Rating.Contested].
func (s Subscription) FollowsFact(fact Fact, k *Knowledge) bool {
	proposed, proposes := fact.(ReviewProposed)
	return slices.ContainsFunc(s.Events, func(word string) bool {
		return slices.Contains(SubscribedEvents[word], fact.Name()) && (word != "contested" ||
			proposes && proposed.Kind == Contradiction || !proposes && k.Rating().Contested())
	})
}

// Managed tells whether p may see and change the subscription.
func (s Subscription) Managed(p Principal) bool {
	return p.IsTenantAdmin() || p.EffectiveSubject() == s.Subscriber
}

func (s Subscription) Evolve(fact Fact, at EventMetadata) (State, error) {
	if _, begins := fact.(SubscriptionCreated); begins != (at.Version == 1) {
		return s, errors.New("the stream of a subscription begins with its creation, once")
	}
	switch f := fact.(type) {
	case SubscriptionCreated:
		return Subscription{
			Subscriber: f.Subscriber, By: f.By, Authentication: f.Authentication, Follows: f.Follows, Scope: f.Scope,
			Item: f.Item, Events: slices.Clone(f.Events), Webhook: f.Webhook, CreatedAt: at.RecordedAt, After: at.Position,
		}, nil
	case SubscriptionPaused:
		s.PausedAt, s.PausedFrom, s.ResumedFrom, s.Cause = at.RecordedAt, at.Position, 0, f.Cause
	case SubscriptionResumed:
		s.PausedAt, s.ResumedFrom, s.Cause = time.Time{}, at.Position, ""
	case SubscriptionRotated:
		s.RotatedAt = at.RecordedAt
	case SubscriptionEnded:
		s.EndedAt, s.Cause = at.RecordedAt, f.Cause
	default:
		return s, errors.New("not a fact about a subscription")
	}
	return s, nil
}

func (s Subscription) StateOwner() Entity { return s.Subscriber }

// SubscribedItem is what p learns of an event about an item: everything, only that it happened, or nothing.
// The readers of a deleted item learn that it was deleted, but not what it said. Of a withheld item nobody learns.
func (p Principal) SubscribedItem(k *Knowledge, deleted bool) (learns, everything bool) {
	if k.Status.Withheld() {
		return false, false
	}
	if p.MaySee(k) {
		return true, true
	}
	if !deleted || k.Status != IsDeleted {
		return false, false
	}
	live := *k
	live.Status = Active
	return p.MaySee(&live), false
}

// Subscribe asks for a subscription of the caller.
type Subscribe struct {
	By      Principal
	ID      string
	Follow  Following
	Events  []string // default: [UsualEvents]
	Webhook bool
	URL     string // of a webhook, checked by the caller
	Note    string
}

// Complete fills in defaults and names every bad field at once.
func (c Subscribe) Complete() (Subscribe, error) {
	var p Problems
	count := 0
	for field, value := range map[string]string{
		"scope": string(c.Follow.Scope), "item": c.Follow.Item, "tag": c.Follow.Tag, "query": c.Follow.Query,
	} {
		if value != "" {
			count++
			atMost(&p, field, value, maxFollowed)
		}
	}
	if count != 1 {
		p.Add("scope", "must be given, or one of item, tag and query in its place")
	}
	if c.Follow.Scope != "" {
		if _, err := ParseScope(string(c.Follow.Scope)); err != nil {
			p.Add("scope", "%s", err)
		}
	}
	if c.Follow.Item != "" && !IsItemID(c.Follow.Item) {
		p.Add("item", "must be the id of an item")
	}
	isWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	if c.Follow.Query != "" && !strings.ContainsFunc(c.Follow.Query, isWord) {
		p.Add("query", "must contain a word")
	}
	for _, word := range c.Events {
		if SubscribedEvents[word] == nil {
			p.Add("events", "must be some of %s", strings.Join(subscribedWords(), ", "))
			break
		}
	}
	if c.Events = slices.Compact(slices.Sorted(slices.Values(c.Events))); len(c.Events) == 0 {
		c.Events = UsualEvents
	}
	atMost(&p, "note", c.Note, maxNote)
	return c, p.Err()
}

func subscribedWords() (words []string) {
	for word := range SubscribedEvents {
		words = append(words, word)
	}
	slices.Sort(words)
	return words
}

// follows names the field of f that is set.
func (f Following) follows() string {
	switch {
	case f.Scope != "":
		return "scope"
	case f.Item != "":
		return "item"
	case f.Tag != "":
		return "tag"
	}
	return "query"
}

// Subscribed is a subscription that is not recorded, for callers that follow for a while.
func (c Subscribe) Subscribed() Subscribed {
	return Subscribed{Tag: c.Follow.Tag, Query: c.Follow.Query, Subscription: Subscription{
		Subscriber: c.By.EffectiveSubject(), Follows: c.Follow.follows(), Scope: c.Follow.Scope, Item: c.Follow.Item,
		Events: c.Events,
	}}
}

func (c Subscribe) Stream() string { return SubscriptionStreams.Of(c.ID) }

func (c Subscribe) Reads() Reads {
	if c.Follow.Item == "" {
		return Reads{}
	}
	return Reads{Items: []string{c.Follow.Item}}
}

func (c Subscribe) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	if err := c.MayFollow(dc.Knowledge); err != nil {
		return nil, err
	}
	for _, e := range slices.Compact([]Entity{c.By.EffectiveSubject(), c.By.Subject}) {
		if open := dc.OpenSubscriptions(e); open >= MostSubscriptions {
			return nil, Refuse(ErrConflict, "%s has or made %d subscriptions, the most that there may be", e, open).
				WithFix("end one: annals subscription remove ID")
		}
	}
	created := SubscriptionCreated{
		Subscriber: c.By.EffectiveSubject(), Authentication: c.By.Authentication, Follows: c.Follow.follows(),
		Scope: c.Follow.Scope, Item: c.Follow.Item, Events: c.Events, Webhook: c.Webhook,
		Tag: c.Follow.Tag, Query: c.Follow.Query, URL: c.URL, Note: c.Note,
	}
	if c.By.OnBehalfOf != "" {
		created.By = c.By.Subject
	}
	return []Fact{created}, nil
}

// MayFollow refuses a scope or an item that the caller may not read.
func (c Subscribe) MayFollow(find func(id string) *Knowledge) error {
	switch {
	case c.Follow.Scope != "" && c.Follow.Scope != Public && !c.By.ActsFor(c.Follow.Scope.Entity()):
		refused := mayNot(c.By, "follow", []string{string(c.Follow.Scope)})
		refused.Fields = []Problem{{Field: "scope", Message: "you may not follow it"}}
		return refused
	case c.Follow.Item != "" && !c.By.MaySee(find(c.Follow.Item)):
		return NotFound(c.Follow.Item)
	}
	return nil
}

// ChangeSubscription asks to pause, resume or end a subscription, or to record that its secret was replaced.
type ChangeSubscription struct {
	By     Principal
	ID     string
	To     Fact // what is to be recorded
	Reason string
}

// Validate names every bad field at once.
func (c ChangeSubscription) Validate() error { return checkReason(c.Reason) }

func (c ChangeSubscription) Stream() string { return SubscriptionStreams.Of(c.ID) }

func (c ChangeSubscription) Reads() Reads { return Reads{} }

func (c ChangeSubscription) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	s := StateOf[Subscription](dc, c.Stream())
	if s.CreatedAt.IsZero() || !s.Managed(c.By) {
		return nil, NoSubscription()
	}
	ended := !s.EndedAt.IsZero()
	var unchanged bool
	switch f := c.To.(type) {
	case SubscriptionPaused:
		f.Reason, unchanged = c.Reason, !s.PausedAt.IsZero()
		c.To = f
	case SubscriptionResumed:
		unchanged = s.PausedAt.IsZero()
	case SubscriptionEnded:
		f.Reason = c.Reason
		if c.To = f; ended {
			return nil, nil
		}
	case SubscriptionRotated:
		if !s.Webhook {
			return nil, Refuse(ErrConflict, "only a webhook has a secret")
		}
	}
	switch {
	case ended:
		return nil, Refuse(ErrConflict, "the subscription has ended").WithFix("make another")
	case unchanged:
		return nil, nil
	}
	return []Fact{c.To}, nil
}

// NoSubscription refuses a subscription that does not exist, or that the caller may not see.
func NoSubscription() error { return Refuse(ErrNotFound, "no such subscription") }

// RewriteText implements [TextCommand]. The URL is not rewritten: another one would reach another receiver.
func (c Subscribe) RewriteText(r TextRewriter) Command {
	r.all(&c.Note, &c.Follow.Query, &c.Follow.Tag)
	r.Name("url", c.URL)
	return c
}

func (c ChangeSubscription) RewriteText(r TextRewriter) Command {
	r.all(&c.Reason)
	return c
}

// Delivery is an event on its way to a webhook. It holds no text.
type Delivery struct {
	Tenant       string
	Subscription string // its id
	Position     int64
	EventID      string
	State        string // "pending", "delivered", "dead" or "dropped"
	Attempts     int
	NextAt       time.Time // of the next attempt, while it is pending
	Status       int       // of the newest answer; 0 without one
	Error        string    // why the newest attempt failed; never what was received
	At           time.Time // when it became pending
}

// DeliveryQuery selects deliveries of a subscription.
type DeliveryQuery struct {
	State  string // empty for all
	Before int64  // only events before this position; 0 for all
	Limit  int

	OldestFirst bool // default: the newest event first
}

// Pong is the answer of a receiver to a ping.
type Pong struct {
	Delivered bool
	Status    int
	Error     string
}

// DeliveryStates are the states of a delivery. A dead one was given up, and can be replayed. A dropped one was not
// sent, because the subscriber may not read the event any more, or because the subscription has ended.
var DeliveryStates = []string{"pending", "delivered", "dead", "dropped"}

var (
	_ OwnedState  = Subscription{}
	_ TextCommand = Subscribe{}
	_ TextCommand = ChangeSubscription{}
)
