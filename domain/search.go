package domain

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/annals-kb/annals/domain/text"
)

// Order says how hits are arranged.
type Order string

// The orders.
const (
	ByPriority Order = "priority" // the best hits by tier, see [Rank]
	ByScore    Order = "score"    // by weight alone
)

// Search asks what is known about something.
type Search struct {
	By       Principal
	Text     string
	Warning  string    // how Text was shortened and read, where that may surprise
	Vector   []float32 // replaces the embedding of Text; must have the model's dimensions
	Context  Context
	Filter   Filter
	Limit    int      // 1…100; 0 for 10
	MinScore *float64 // 0…1; nil for the embedder's default
	Order    Order    // empty for ByPriority
	Level    *Level   // nil for [Detail]
	Explain  bool
	Everyone bool      // for a caller that reads the whole tenant: also what is private to others
	Copies   bool      // each item is a hit of its own, even if others say the same
	AsOf     int64     // a position of the log, for a search as of then; 0 for the present
	AsOfTime time.Time // the time of that position; zero for the present
}

// Level says which text of an item an answer contains. It does not limit the search, which always covers the whole
// item.
type Level int

// The levels, as contexts name them: L0, L1 and L2.
const (
	Abstract Level = iota // some hundred tokens
	Overview              // one or two thousand
	Detail                // the content itself
)

// Trim replaces the content with the text of a level. If the level has no text, Trim uses the next longer one.
func (l Level) Trim(k *Knowledge) {
	switch l {
	case Abstract:
		k.Text.Content = cmp.Or(k.Text.Abstract, k.Text.Overview, k.Text.Content)
	case Overview:
		k.Text.Content = cmp.Or(k.Text.Overview, k.Text.Content)
	default:
		return
	}
	k.Text.Abstract, k.Text.Overview = "", ""
}

// Context says for whom a search is made, and so which scopes are near.
type Context struct {
	Given    bool // false: all entities of the principal
	Entities []Entity
}

// Filter narrows a search or a list. Empty fields do not filter; several values of one field
// are alternatives.
type Filter struct {
	Types         []Type
	ContextTypes  []ContextType
	Categories    []Category
	Tags          Tags   // every key must match, by any of its values
	Also          []Tags // further sets of tags that must match likewise
	Owner         Entity
	Scope         Scope
	Visibility    Visibility
	URIPrefix     string
	IDs           []string
	IDPrefix      string
	Under         []URI   // at or below any of these
	Levels        []Level // only items whose URIs are of these levels, see [URI.Level]
	Polarity      Polarity
	Stale         *bool // true: reported since the last confirmation, or the confirmation has expired
	TraceID       string
	Statuses      []Status // empty: active only
	CreatedFrom   time.Time
	CreatedTo     time.Time
	UpdatedFrom   time.Time
	UpdatedTo     time.Time
	Contested     *bool      // see [Rating.Contested]
	Reader        *Principal // for whom items are contested; nil for one who sees all. Only lists and counts set it
	Expired       *bool      // true: the confirmation has expired
	MinConfidence *float64   // 0…1, of the confidence as it is now
	MaxConfidence *float64
	NoArchives    bool     // leave out archives of sessions: the default of searches
	PrivateOf     []Entity // leave out what is private to others than these; empty for nothing
	Phrases       []string // that the text contains, see [text.ReadQuestion]; only searches set these and the next
	Without       []string // words and phrases that the text does not contain
}

// Tagged lists the sets of tags that must all match: in their normal form, and values also as they were given, since
// an older item may have them so.
func (f Filter) Tagged() []Tags {
	all := append([]Tags{f.Tags}, f.Also...)
	for i, tags := range all {
		all[i] = tags.normal()
		for key := range all[i] {
			all[i][key] = append(all[i][key], slices.DeleteFunc(slices.Clone(tags[key]), func(value string) bool {
				return slices.Contains(all[i][key], value)
			})...)
		}
	}
	return all
}

// asks tells whether a filter asks for archives, by a URI of theirs or by their tag, and whether it says whose items it
// wants, by an owner, a scope, a visibility or a place.
func (f Filter) asks() (archives, others bool) {
	archives = slices.ContainsFunc(f.Tagged(), func(t Tags) bool { return slices.Contains(t["category"], ArchiveTag) })
	others = f.Owner+Entity(f.Scope)+Entity(f.Visibility) != ""
	for _, place := range append([]URI{URI(f.URIPrefix)}, f.Under...) {
		names := place.Names()
		others = others || place != "" && len(names) > 0
		archives = archives || len(names) > 0 && names[0] == "session" ||
			len(names) > 2 && names[0] == Agent && names[2] == "sessions"
	}
	return archives, others
}

// shortened is the beginning and the end of a question that is too long, and a warning.
func shortened(question string) (short, warning string) {
	if utf8.RuneCountInString(question) <= MaxQuery || !utf8.ValidString(question) {
		return question, ""
	}
	const half = MaxQuery/2 - 1
	all := []rune(question)
	return string(all[:half]) + "\n" + string(all[len(all)-half:]), fmt.Sprintf(
		"the question has %d characters: only its first and its last %d are used", len(all), half)
}

// Complete fills in defaults and validates all fields. Then it checks that the caller is entitled to each entity of
// the context.
func (s Search) Complete() (Search, error) {
	var p Problems
	if s.Limit == 0 {
		s.Limit = DefaultLimit
	}
	if s.Order == "" {
		s.Order = ByPriority
	}
	archives, others := s.Filter.asks()
	s.Filter.NoArchives = !archives
	if s.By.SeesAll() && !s.Context.Given && !s.Everyone && !others {
		s.Filter.PrivateOf = s.By.Entities()
	}
	if IsBlank(s.Text) && len(s.Vector) == 0 {
		p.Add("query", "must not be empty")
	}
	s.Text, s.Warning = shortened(s.Text)
	atMost(&p, "query", s.Text, MaxQuery)
	if slices.ContainsFunc(s.Vector, func(x float32) bool {
		return math.IsNaN(float64(x)) || math.IsInf(float64(x), 0)
	}) {
		p.Add("vector", "must be finite numbers")
	}
	if s.Limit < 1 || s.Limit > MaxLimit {
		p.Add("limit", "must be 1 to %d", MaxLimit)
	}
	checkShare(&p, "min_score", s.MinScore)
	oneOf(&p, "order", s.Order, []Order{ByPriority, ByScore}, true)
	if s.Level != nil && (*s.Level < Abstract || *s.Level > Detail) {
		p.Add("level", "must be %d to %d", Abstract, Detail)
	}
	for i, entity := range s.Context.Entities {
		checkEntity(&p, fmt.Sprintf("context[%d]", i), entity)
	}
	s.Filter.validate(&p)
	if err := p.Err(); err != nil {
		return s, err
	}
	return s, s.entitled()
}

// Asked is the search with the quotes and exclusions of its text as conditions of its filter, and itself after that.
func (s Search) Asked() Search {
	q := text.ReadQuestion(s.Text)
	s.Text, s.Filter.Phrases, s.Filter.Without = q.Words, q.Phrases, slices.Concat(s.Filter.Without, q.Without)
	for _, remark := range q.Remarks {
		s.Warn(remark)
	}
	return s
}

// WithoutPhrases gives up phrases that nothing contains, and says so.
func (s *Search) WithoutPhrases() {
	s.Warn("nothing contains " + text.Quoted(s.Filter.Phrases) + ", so that its words were searched")
	s.Filter.Phrases = nil
}

// Warn adds to the warning.
func (s *Search) Warn(remark string) {
	if !strings.Contains(s.Warning, remark) {
		s.Warning = strings.TrimPrefix(s.Warning+"; "+remark, "; ")
	}
}

// Validate names every bad field of a filter.
func (f Filter) Validate() error {
	var p Problems
	f.validate(&p)
	return p.Err()
}

func (f Filter) validate(p *Problems) {
	each(p, "types", f.Types, Types)
	each(p, "context_type", f.ContextTypes, ContextTypes)
	each(p, "category", f.Categories, Categories)
	each(p, "status", f.Statuses, Statuses)
	for _, tags := range f.Tagged() {
		checkTags(p, tags)
	}
	if f.Owner != "" {
		checkEntity(p, "owner", f.Owner)
	}
	if f.Scope != "" {
		if _, err := ParseScope(string(f.Scope)); err != nil {
			p.Add("scope", "%s", err)
		}
	}
	oneOf(p, "visibility", f.Visibility, visibilities, false)
	oneOf(p, "polarity", f.Polarity, Polarities, false)
	switch {
	case f.URIPrefix == "":
	case !strings.HasPrefix(f.URIPrefix, string(RootURI)):
		p.Add("uri", "must begin with %s", RootURI)
	default:
		atMost(p, "uri", f.URIPrefix, maxURI)
	}
	atMost(p, "id_prefix", f.IDPrefix, maxURI)
	if len(f.IDs) > maxIDs {
		p.Add("id", "must be at most %d", maxIDs)
	}
	for i, uri := range f.Under {
		checkUnder(p, fmt.Sprintf("under[%d]", i), uri)
	}
	for _, level := range f.Levels {
		if level < Abstract || level > Detail {
			p.Add("level", "must be %d to %d", Abstract, Detail)
		}
	}
	checkTrace(p, "trace_id", f.TraceID)
	checkShare(p, "min_confidence", f.MinConfidence)
	checkShare(p, "max_confidence", f.MaxConfidence)
}

func checkShare(p *Problems, field string, share *float64) {
	if share != nil && !(*share >= 0 && *share <= 1) {
		p.Add(field, "must be 0 to 1")
	}
}

func checkUnder(p *Problems, field string, uri URI) {
	if _, err := ParseURI(string(uri)); err != nil {
		p.Add(field, "%s", err)
	}
}

func each[T ~string](p *Problems, field string, values, all []T) {
	for _, value := range values {
		oneOf(p, field, value, all, true)
	}
}

func (s Search) entitled() error {
	var denied []string
	for _, entity := range s.Context.Entities {
		if !s.By.ActsFor(entity) {
			denied = append(denied, string(entity))
		}
	}
	if len(denied) == 0 {
		return nil
	}
	return mayNot(s.By, "search as", denied)
}

// Audience is the set of scopes of a search, or everything in the tenant.
type Audience struct {
	Everything bool    // in the tenant; what is not meant for the caller is as far away as what is public
	Near       []Scope // with Everything: the caller's own
	Scopes     []Scope
}

// Audience derives the visible scopes: the context's entities or, without a context, all entities of the principal,
// and always public. A caller that reads the whole tenant and gives no context sees everything.
func (s Search) Audience() Audience {
	entities := s.Context.Entities
	if !s.Context.Given {
		entities = s.By.Entities()
	}
	scopes := []Scope{Public}
	for _, entity := range entities {
		if !slices.Contains(scopes, entity.Scope()) {
			scopes = append(scopes, entity.Scope())
		}
	}
	if s.By.SeesAll() && !s.Context.Given {
		return Audience{Everything: true, Near: scopes}
	}
	return Audience{Scopes: scopes}
}

// tierOf is how near a scope is to the audience.
func (a Audience) tierOf(scope Scope) Tier {
	if a.Everything && !slices.Contains(a.Near, scope) {
		return TierPublic
	}
	return scope.Tier()
}

// Best is the nearest scope that an item shares with the audience; false if there is none. Within a tier, the
// alphabetically first scope wins.
func (a Audience) Best(scopes []Scope) (Scope, bool) {
	if len(a.Near) > 0 {
		if near, shared := (Audience{Scopes: a.Near}).Best(scopes); shared {
			return near, true
		}
	}
	var best Scope
	for _, scope := range scopes {
		if !a.Everything && !slices.Contains(a.Scopes, scope) {
			continue
		}
		if best == "" || scope.Tier() < best.Tier() || scope.Tier() == best.Tier() && scope < best {
			best = scope
		}
	}
	return best, best != ""
}
