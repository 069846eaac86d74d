package domain

import (
	"slices"
	"time"
)

// Remember asks for a new item. Call [Remember.Complete] first: it fills in what follows from
// the rest and names every bad field.
type Remember struct {
	By         Principal
	ID         string
	Knowledge  Remembered
	Visibility Visibility // as claimed by the caller; empty to derive
	OrRevise   bool       // other content under a taken id revises it instead of being refused
	OrSame     bool       // the same content again is no conflict
}

// Complete fills in defaults and validates. The error is an [*Invalid] naming every bad field,
// or a refusal to publish where the caller may not.
func (c Remember) Complete() (Remember, error) {
	r := &c.Knowledge
	if r.ContextType == "" {
		r.ContextType = Memory
	}
	if r.Polarity == "" {
		r.Polarity = Positive
		if r.Category == CategoryAntipatterns {
			r.Polarity = Negative
		}
	}
	if r.Media == "" {
		r.Media = MediaText
	}
	if r.Type == "" {
		r.Type = TypeOf(r.Category, r.ContextType)
	}
	if r.Owner == "" {
		r.Owner = c.By.Voter()
	}
	if len(r.Scopes) == 0 {
		r.Scopes = []Scope{r.Owner.Scope()}
	}
	if r.Text.URI == "" {
		r.Text.URI = URIOf(c.ID, r.Owner, r.Category, r.Type)
	}
	if err := c.validate(); err != nil {
		return c, err
	}
	return c, c.mayPublish()
}

func (c Remember) mayPublish() error {
	return mayPublish(c.By, c.Knowledge.Scopes, c.Knowledge.Owner)
}

// mayPublish refuses owners and scopes that the caller neither is nor belongs to: otherwise
// anybody could write himself to the top of somebody else's answers.
func mayPublish(by Principal, scopes []Scope, owner Entity) error {
	var denied []string
	for _, scope := range scopes {
		if !by.MayPublish(scope) {
			denied = append(denied, string(scope))
		}
	}
	if owner != "" && !by.MayPublish(owner.Scope()) && !slices.Contains(denied, string(owner)) {
		denied = append(denied, string(owner))
	}
	if len(denied) > 0 {
		return Refuse(ErrForbidden, "%s may not publish as or to %v", by.Voter(), denied).
			WithFix("name only entities you are or belong to")
	}
	return nil
}

// Item implements [Command].
func (c Remember) Item() string { return c.ID }

// Reads implements [Command].
func (c Remember) Reads() Reads { return Reads{URIs: []string{c.Knowledge.Text.URI}} }

// Decide implements [Command].
func (c Remember) Decide(book Book, _ time.Time) ([]Fact, error) {
	k := book.Knowledge(c.ID)
	if k.Exists() {
		return c.again(book, k)
	}
	if holder := book.Holder(c.Knowledge.Text.URI); holder != "" {
		return nil, Refuse(ErrTaken, "the uri belongs to another item").WithFix("choose another uri or leave it out")
	}
	return []Fact{c.Knowledge}, nil
}

// again decides about an id that is taken.
func (c Remember) again(book Book, k *Knowledge) ([]Fact, error) {
	taken := Refuse(ErrTaken, "the id %s is taken", c.ID).
		WithFix("choose another id, or revise the item if it is yours")
	if !c.By.MaySee(k) {
		return nil, taken
	}
	if k.Status == IsErased {
		return nil, Gone(k)
	}
	if k.Status == IsDeleted {
		return nil, taken.WithFix("restore the item, or choose another id")
	}
	revise := c.revision()
	switch {
	case len(revise.facts(k)) == 0 && (c.OrSame || c.OrRevise):
		return nil, nil
	case c.OrRevise:
		return revise.Decide(book, time.Time{})
	}
	return nil, taken
}

// revision is the change that turns an older item into what is to be remembered.
func (c Remember) revision() Revise {
	r := c.Knowledge
	return Revise{
		Target: Target{By: c.By, ID: c.ID},
		Changes: Revised{
			Type: &r.Type, Category: &r.Category, Polarity: &r.Polarity,
			Task: &r.Text.Task, Content: &r.Text.Content, Abstract: &r.Text.Abstract,
			Overview: &r.Text.Overview, Tags: &r.Text.Tags, Meta: &r.Text.Meta,
		},
		Scopes: r.Scopes,
		Owner:  r.Owner,
	}
}

func (c Remember) validate() error {
	var p Problems
	r := c.Knowledge
	checkID(&p, "id", c.ID)
	oneOf(&p, "type", r.Type, Types, true)
	oneOf(&p, "context_type", r.ContextType, ContextTypes, true)
	oneOf(&p, "category", r.Category, Categories, false)
	oneOf(&p, "polarity", r.Polarity, Polarities, true)
	oneOf(&p, "media", r.Media, MediaTypes, true)
	checkScopes(&p, r.Scopes)
	checkEntity(&p, "owner", r.Owner)
	checkVisibility(&p, c.Visibility, r.Scopes, r.Owner)
	checkSource(&p, r.Source)
	checkEval(&p, r.Baseline)
	checkTask(&p, r.Text.Task)
	checkContent(&p, r.Text.Content)
	atMost(&p, "abstract", r.Text.Abstract, maxAbstract)
	atMost(&p, "overview", r.Text.Overview, maxOverview)
	checkTags(&p, r.Text.Tags)
	checkMeta(&p, r.Text.Meta)
	checkURI(&p, r.Text.URI)
	return p.Err()
}
