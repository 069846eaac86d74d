package domain

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// List asks for items in order of remembering, newest first.
type List struct {
	By        Principal
	Filter    Filter
	Sort      Sort      // empty: newest first
	Ascending bool      // of the sort; false: the highest first
	Before    int64     // only items with a smaller number; 0 begins with the newest
	Key       int64     // with Sort: only items after the one with this key and the number Before
	Limit     int       // 1…100; 0 for 20
	AsOf      int64     // a position of the log, for a list as of then; 0 for the present
	AsOfTime  time.Time // the time of that position; zero for the present
}

// ListPage is one page of a list.
type ListPage struct {
	Items []*Knowledge
	Next  int64 // Before of the next page; 0 on the last page
	Key   int64 // of the next page
}

// Sort is what a list is sorted by. Items with the same key come in the order of their numbers.
type Sort string

// The sorts. A list that is sorted has the newest items only, if there are very many.
const (
	ByUpdate     Sort = "updated"
	ByConfidence Sort = "confidence"
	ByHarm       Sort = "harmful" // harmful votes
	ByStaleness  Sort = "stale"   // reports of staleness, and then whether the confirmation has expired
)

// Sorts are all of them.
var Sorts = []Sort{ByUpdate, ByConfidence, ByHarm, ByStaleness}

// Counts counts the items that pass a filter, for a principal that may see them. Its other counts are of items that
// have one of the filter's statuses; Statuses counts live items of every status.
type Counts struct {
	Items    int
	Complete bool // false if more items pass: the counts are of the newest

	Types, Statuses, Categories, Owners, Scopes, Tags Facet

	Confidence [10]int // by tenths; the last has 1, too

	Stale     int // reported stale, or with an expired confirmation: see Filter.Stale
	Expired   int // with an expired confirmation
	Contested int // see Filter.Contested
	Confirmed int // confirmed, and not stale
	Helpful   int // found helpful since Since
	Since     time.Time
	Unused    *int // without a helpful vote or a recorded search or read; nil if unknown

	ByScope []ScopeCounts // of the scopes with the most items
}

// ScopeCounts are the counts of the items of a scope.
type ScopeCounts struct {
	Scope                                      string
	Items, Stale, Contested, Confirmed, Unused int
	Confidence                                 float64 // the mean
}

// Facet counts items by a value, the most frequent first.
type Facet struct {
	Counts []Count
	More   bool // there are other values
}

// Count is how many items have a value.
type Count struct {
	Value string
	Items int
}

// mostValues limits the values of a facet.
const mostValues = 20

// FacetOf is the facet of these counts. It leaves out the empty value.
func FacetOf(counts map[string]int) (f Facet) {
	for value, n := range counts {
		if value != "" {
			f.Counts = append(f.Counts, Count{Value: value, Items: n})
		}
	}
	slices.SortFunc(f.Counts, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.Items, a.Items), cmp.Compare(a.Value, b.Value))
	})
	if len(f.Counts) > mostValues {
		f.Counts, f.More = f.Counts[:mostValues], true
	}
	return f
}

// With is the union of t and more.
func (t Tags) With(more Tags) Tags {
	all := Tags{}
	for _, tags := range []Tags{t, more} {
		for key, values := range tags {
			for _, value := range values {
				if !slices.Contains(all[key], value) {
					all[key] = append(all[key], value)
				}
			}
		}
	}
	return all
}

// Pairs are the tags as key, separator and value, or the value of a label. Filters have a colon as separator.
func (t Tags) Pairs(separator string) (pairs []string) {
	for key, values := range t {
		for _, value := range values {
			if key != Labels {
				value = key + separator + value
			}
			pairs = append(pairs, value)
		}
	}
	return pairs
}

// Answer is what a search found.
type Answer struct {
	Hits     []Found
	Embedder string // the embedding model whose vectors were compared
	Degraded string // why only words were searched, for all items or some; empty if vectors were searched, too
	Warning  string // how the question was shortened; empty if it was not
	MinScore float64
	Weak     bool         // its hits may not be about the question
	Explain  *Explanation // when asked for, or when there are no hits
}

// Found is a hit with its item.
type Found struct {
	Hit
	Knowledge *Knowledge
	Terms     []string // which of the query's terms it contains; with Explain
}

// SimilarItem is an item that resembles another one.
type SimilarItem struct {
	ID    string
	Kind  string  // one of the constants below
	Score float64 // 0…1: how much of the subject they share
	Rule  string  // by which text/compare decided, or unsure; otherwise empty for Resembling

	Knowledge *Knowledge // as it was found
}

// The kinds of similar items.
const (
	Duplicate     = "duplicate"     // says the same
	Contradiction = "contradiction" // says something else of the same
	Resembling    = "similar"       // is about the same, or nearly so
)

// OnSimilar is what becomes of a new item that resembles others.
type OnSimilar string

// The ways to treat similar items.
const (
	ReportSimilar OnSimilar = "report" // name them in the answer
	LinkSimilar   OnSimilar = "link"   // relate the new item to its duplicates, too
	RefuseSimilar OnSimilar = "refuse" // if it has duplicates or contradictions
	VoteSimilar   OnSimilar = "vote"   // for the item that says exactly this, instead of a second one
)

// OnSimilars are all of them.
var OnSimilars = []OnSimilar{ReportSimilar, LinkSimilar, RefuseSimilar, VoteSimilar}

// Known refuses a new item with [VoteSimilar]: the item says exactly this.
type Known struct {
	*Refusal
	Item Knowledge
}

// decideSimilar refuses the new item or relates it to its duplicates. Items that changed or left since the caller found
// them do not count. A search may miss the same text among many that resemble it, so it is looked up.
func (c Remember) decideSimilar(dc DecisionContext) (links []Fact, err error) {
	var said []string
	var found []SimilarItem
	for _, s := range c.Similar {
		k := dc.Knowledge(s.ID)
		if s.ID == c.ID || s.Kind == Resembling || k.Status != Active || !c.By.MaySee(k) {
			continue
		}
		switch {
		case c.OnSimilar == LinkSimilar && s.Kind == Duplicate:
			links = append(links, Linked{To: s.ID})
		case c.OnSimilar == RefuseSimilar && s.Kind == Duplicate:
			said, found = append(said, s.ID+" says the same"), append(found, s)
		case c.OnSimilar == RefuseSimilar:
			said, found = append(said, s.ID+" contradicts it"), append(found, s)
		}
	}
	if k := c.repeated(dc); k != nil && c.OnSimilar == VoteSimilar {
		return nil, &Known{Refuse(ErrSimilar, "%s says the same", k.ID), *k}
	} else if k != nil && len(said) == 0 {
		said, found = append(said, k.ID+" says the same"), append(found, SimilarItem{ID: k.ID, Kind: Duplicate, Score: 1})
	}
	if len(said) == 0 {
		return links, nil
	}
	refusal := Refuse(ErrSimilar, "%s", strings.Join(said, ", ")).
		WithFix("vote for that item, revise or supersede it, or remember this one with on_similar=report")
	refusal.Similar = found
	return nil, refusal
}

// repeated is an item that says exactly the same, if that matters: to a refusal, one of the audience or a public one;
// to a vote, one of the same kind and for the same readers. Nil if there is none.
func (c Remember) repeated(dc DecisionContext) *Knowledge {
	r, scopes := c.Knowledge, append([]Scope{Public}, c.Knowledge.Scopes...)
	switch {
	case c.OnSimilar != RefuseSimilar && c.OnSimilar != VoteSimilar:
		return nil
	case c.OnSimilar == VoteSimilar && c.assumed.scopes:
		for _, entity := range c.By.Entities() {
			scopes = append(scopes, entity.Scope())
		}
	}
	for _, id := range dc.ItemsSaying(r.Text, scopes) {
		k := dc.Knowledge(id)
		shared := func(scope Scope) bool { return slices.Contains(scopes, scope) }
		if k.Text.Task == r.Text.Task && k.Text.Content == r.Text.Content && k.ContextType == r.ContextType &&
			k.Polarity == r.Polarity && k.Status == Active && slices.ContainsFunc(k.Scopes, shared) && c.By.MaySee(k) &&
			(c.OnSimilar == RefuseSimilar || c.isFor(k)) {
			return k
		}
	}
	return nil
}

// isFor tells whether the new item is of the kind and for the readers of another one.
func (c Remember) isFor(k *Knowledge) bool {
	r := c.Knowledge
	sameKind := k.Category == r.Category || k.Category == "" && k.Type == r.Type
	sameReaders := c.assumed.scopes || SameScopes(k.Scopes, r.Scopes)
	return sameKind && sameReaders && (!r.Category.AboutUser() || k.Owner == r.Owner)
}

// Explanation says how an answer came about.
type Explanation struct {
	Audience  []Scope // empty for everything in the tenant
	Visible   int64   // items in the audience's scopes
	Passed    int64   // of those, items that passed the filters
	BestBelow float64 // the best score below the threshold; 0 if none
	Terms     []string
	Plans     []ScopePlan
	Took      time.Duration
}

// ScopePlan says how the vectors of a scope were searched.
type ScopePlan struct {
	Scope Scope
	Items int64
	Plan  string // "exact", "sketch", "none"
}

// The sections of a digest.
const (
	DigestNew        = "new"
	DigestChanged    = "changed"
	DigestDoubted    = "doubted"
	DigestSuperseded = "superseded"
	DigestDeleted    = "deleted"
	DigestHelpful    = "helpful"
)

// digestSections are the sections of events, by the words of [SubscribedEvents].
var digestSections = map[string]string{
	"remembered": DigestNew, "revised": DigestChanged, "stale": DigestDoubted, "harmful": DigestDoubted,
	"merged": DigestChanged, "restored": DigestChanged, "superseded": DigestSuperseded, "deleted": DigestDeleted,
	"helpful": DigestHelpful,
}

// DigestedNames are the names of the facts that a digest counts.
func DigestedNames() (names []string) {
	for word := range digestSections {
		names = append(names, SubscribedEvents[word]...)
	}
	slices.Sort(names)
	return names
}

// DigestSectionOf is the section of a digest that counts a fact.
func DigestSectionOf(name string) string {
	for word, section := range digestSections {
		if slices.Contains(SubscribedEvents[word], name) {
			return section
		}
	}
	return ""
}

// MostDigested limits the items of a section.
const MostDigested = 20

// DigestQuery asks what happened in a scope at or after From, and before To.
type DigestQuery struct {
	By       Principal
	Scope    Scope
	From, To time.Time
}

// ScopeDigest sums up what happened in a scope.
type ScopeDigest struct {
	Events   int
	More     bool // there are more events than were counted
	Sections map[string]DigestSection
}

// DigestSection are items of a digest: those with the most events first, then those with the newest one.
type DigestSection struct {
	Total int
	Items []DigestItem
}

// DigestItem is an item in a section of a digest.
type DigestItem struct {
	ID       string
	Title    string
	Who      Entity // who did the newest, or who remembered it; empty if the caller may not read that
	Count    int
	Last     time.Time
	Position int64  // of the newest event
	By       string // the item that superseded it
}

// TitleOf is the task of an item, or the beginning of its content, on one line.
func TitleOf(k *Knowledge) string {
	const most = 100
	title := k.Text.Task
	if title == "" {
		title, _, _ = strings.Cut(strings.TrimSpace(k.Text.Content), "\n")
	}
	letters := []rune(strings.Join(strings.Fields(title), " "))
	if len(letters) > most {
		return string(letters[:most-1]) + "…"
	}
	return string(letters)
}
