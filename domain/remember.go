package domain

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Remember asks for a new item. Call [Remember.Complete] first: it derives missing fields and names every bad one.
//
// With OrRevise, it replaces the whole text of an older item with this id. That item's audience, owner and URI change
// only if they were named.
type Remember struct {
	By         Principal
	ID         string
	Fresh      bool // the id was made for this command, so that no item has it
	Knowledge  Remembered
	Visibility Visibility // as claimed by the caller; empty to derive
	Reason     string     // why, if it revises an older item
	Confirm    bool       // the item, too, if it revises an older one
	OrRevise   bool       // other content under a taken id revises it instead of being refused
	OrSame     bool       // identical content under a taken id is no conflict
	MayBeEmpty bool       // the content may be empty, as that of a file; so may that of an item with a URI
	Revisions  []int64    // expected revisions (If-Match) of the item that it revises; nil for any, and for a new item

	// Similar are items that the caller found similar to a new one, and OnSimilar says what becomes of it.
	Similar   []SimilarItem
	OnSimilar OnSimilar

	assumed struct{ scopes, owner, uri bool } // derived by Complete, not named by the caller
}

// Complete derives missing fields and validates. The error is an [*Invalid] naming every bad field, or a refusal to
// publish to a scope. With OrRevise, [Remember.Decide] checks the scopes.
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
		r.Owner, c.assumed.owner = c.By.EffectiveSubject(), true
	}
	if err := c.validate(); err != nil {
		return c, err
	}
	r.Text.Meta, r.Text.Tags = compactJSON(r.Text.Meta), r.Text.Tags.normal()
	if r.Scopes == nil {
		r.Scopes, c.assumed.scopes = r.audience(), true
	}
	if r.Text.URI == "" {
		r.Text.URI, c.assumed.uri = string(URIOf(c.ID, r.Owner, r.ContextType, r.Category, r.Type)), true
	}
	if c.OrRevise { // Decide checks: the older item may have these scopes already
		return c, mayPublish(c.By, nil, "")
	}
	return c, mayPublish(c.By, r.Scopes, r.Owner)
}

// For is the completed command with this audience, unless the caller named another one. What is for everyone is in the
// directory that all agents share.
func (c Remember) For(to Scope) Remember {
	if !c.assumed.scopes || !c.assumed.owner {
		return c
	}
	c.Knowledge.Scopes = []Scope{to}
	if r := c.Knowledge; to == Public && c.assumed.uri {
		c.Knowledge.Text.URI = string(URIOf(c.ID, "", r.ContextType, r.Category, r.Type))
	}
	return c
}

// audience is the audience of an item; default: its owner.
func (r Remembered) audience() []Scope {
	if len(r.Scopes) == 0 {
		return []Scope{r.Owner.Scope()}
	}
	return r.Scopes
}

// mayPublish refuses owners and scopes that the caller neither is nor belongs to. Otherwise, any caller could place
// items at the top of another caller's answers.
func mayPublish(by Principal, scopes []Scope, owner Entity) error {
	if by.Role == Auditor {
		return errAuditor()
	}
	var denied []string
	var bad Problems
	for _, scope := range scopes {
		if !by.MayPublish(scope) {
			denied = append(denied, string(scope))
			bad.Add("scopes", "you may not publish to %s", scope)
		}
	}
	if owner != "" && !by.MayPublish(owner.Scope()) {
		bad.Add("owner", "you may not publish as %s", owner)
		if !slices.Contains(denied, string(owner)) {
			denied = append(denied, string(owner))
		}
	}
	if len(denied) > 0 {
		refused := mayNot(by, "publish as or to", denied)
		refused.Fields = bad
		if slices.Contains(denied, string(Public)) {
			return refused.WithFix(
				"name only yourself and groups that you belong to; to everybody publish admins, and keys with publish_public, " +
					"as annals key create --publish-public makes them",
			)
		}
		return refused
	}
	return nil
}

func (c Remember) Stream() string { return KnowledgeStream(c.ID) }

func (c Remember) Reads() Reads {
	reads := Reads{Fresh: c.Fresh, Reports: c.Confirm}
	if !c.hasFreshURI() {
		reads.URIs = []string{c.Knowledge.Text.URI}
	}
	for _, s := range c.Similar {
		reads.Items = append(reads.Items, s.ID)
	}
	return reads
}

// hasFreshURI tells whether the URI contains an id that no item has.
func (c Remember) hasFreshURI() bool { return c.Fresh && c.assumed.uri }

func (c Remember) Decide(dc DecisionContext, now time.Time) ([]Fact, error) {
	k := dc.Knowledge(c.ID)
	if k.Exists() {
		return c.decideTaken(dc, k, now)
	}
	if c.Revisions != nil {
		return nil, Refuse(ErrPrecondition, "there is no item %s to revise", c.ID).
			WithFix("leave the expected revision out to remember it")
	}
	if err := mayPublish(c.By, c.Knowledge.Scopes, c.Knowledge.Owner); err != nil {
		return nil, err
	}
	if c.OnSimilar == "" {
		return c.begun(dc)
	}
	links, err := c.decideSimilar(dc)
	if err != nil {
		return nil, err
	}
	facts, err := c.begun(dc)
	return append(facts, links...), err
}

// begun is the new item, at a URI that is free and that the caller may use.
func (c Remember) begun(dc DecisionContext) ([]Fact, error) {
	item := c.Knowledge
	item.Source.Trust = LeastTrusted(item.trust(), c.By.Trust())
	archives := IsArchive(c.ID) && c.By.Authentication == SystemPrincipal().Authentication // nobody tells anything by it
	item.Proposed = item.Proposed || !archives && len(StateOf[Verification](dc, VerificationStream).
		asking(item.Scopes, item.Type, c.By.Trust(), item.Source.Trust)) > 0
	taken := !c.hasFreshURI() && dc.Holder(item.Text.URI) != ""
	switch {
	case c.assumed.uri && taken:
		item.Text.URI = freeURIBeside(dc, item.Text.URI)
	case c.assumed.uri:
	case mayUseURI(c.By, item.Text.URI) != nil:
		return nil, mayUseURI(c.By, item.Text.URI)
	case taken:
		return nil, Refuse(ErrTaken, "the uri belongs to another item").WithFix("choose another uri or leave it out")
	}
	return []Fact{item}, nil
}

// decideTaken decides if the id is taken.
func (c Remember) decideTaken(dc DecisionContext, k *Knowledge, now time.Time) ([]Fact, error) {
	taken := Refuse(ErrTaken, "the id %s is taken", c.ID).
		WithFix("choose another id, or revise the item if it is yours")
	if !c.By.MaySee(k) {
		return nil, taken
	}
	switch k.Status {
	case IsErased:
		return nil, Refuse(ErrErased, "%s was erased for good", c.ID).WithFix("choose another id: this one stays taken")
	case IsDeleted:
		return nil, taken.WithFix("restore the item, or choose another id")
	case IsQuarantined:
		return nil, taken.WithFix("choose another id")
	}
	if k.ContextType != c.Knowledge.ContextType || k.Media != c.Knowledge.Media {
		return nil, taken.WithFix("choose another id: context_type and media never change")
	}
	revise := c.revision()
	revise.Changes = revise.Changes.keepingSummary(dc, k)
	switch same := len(revise.facts(k)) == 0; {
	case c.OrRevise && (c.Confirm || !same):
		return revise.Decide(dc, now)
	case same && (c.OrSame || c.OrRevise):
		return nil, cmp.Or(revise.expected(k), revise.agrees(k))
	case same:
		return nil, Refuse(ErrTaken, "the id %s is taken, by an item that says exactly this", c.ID).
			WithFix("nothing is left to do; revise the item to change it")
	}
	return nil, taken
}

// Repeats tells whether the completed command would change nothing about an item with this fingerprint, of which k
// needs to have only the scopes, the owner and the URI.
func (c Remember) Repeats(k *Knowledge, fingerprint string) bool {
	revise := c.revision()
	revise.Changes = Revised{}
	return !c.Confirm && c.Knowledge.Fingerprint(c.Knowledge.Text) == fingerprint && len(revise.facts(k)) == 0 &&
		cmp.Or(revise.expected(k), revise.agrees(k)) == nil
}

// revision is the change from the older item to this one.
func (c Remember) revision() Revise {
	r := c.Knowledge
	revise := Revise{
		Target: Target{By: c.By, ID: c.ID, Revisions: c.Revisions}, Reason: c.Reason, Confirm: c.Confirm,
		Visibility: c.Visibility, Changes: r.changes(), Trust: r.trust(),
	}
	if !c.assumed.scopes {
		revise.Scopes = r.Scopes
	}
	if !c.assumed.owner {
		revise.Owner = r.Owner
	}
	if !c.assumed.uri {
		revise.URI = r.Text.URI
	}
	return revise
}

func (c Remember) validate() error {
	var p Problems
	r := c.Knowledge
	checkID(&p, "id", c.ID)
	// An invalid category is reported alone, without the missing type.
	if r.Type == "" && (r.Category == "" || slices.Contains(Categories, r.Category)) {
		p.Add("type", "is missing: name one of %s, or a category, from which it follows", listed(Types))
	}
	all := r.changes()
	if r.Type == "" {
		all.Type = nil
	}
	all.check(&p, c.MayBeEmpty || strings.HasPrefix(r.Text.URI, string(RootURI)))
	oneOf(&p, "context_type", r.ContextType, ContextTypes, true)
	oneOf(&p, "media", r.Media, MediaTypes, true)
	if r.Scopes != nil { // an empty list is invalid, a missing one is not
		checkScopes(&p, r.Scopes)
	}
	checkEntity(&p, "owner", r.Owner)
	checkVisibility(&p, c.Visibility, r.audience(), r.Owner)
	checkSource(&p, r.Source)
	oneOf(&p, "trust", r.Source.Trust, Trusts, false)
	checkEval(&p, r.Baseline)
	if r.Text.URI != "" {
		checkURI(&p, r.Text.URI)
	}
	checkOrigins(&p, r.DerivedFrom)
	atMost(&p, "reason", c.Reason, maxReason)
	return p.Err()
}
