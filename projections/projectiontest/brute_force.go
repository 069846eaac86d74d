package projectiontest

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/projections/embedding"
)

// Everything answers searches by looking at every item: BM25 and cosines without an index, and all
// hits, whatever the limit and the threshold. It is what the engines are held against.
type Everything map[string]*known

// known is an item with what there is to compare.
type known struct {
	*domain.Knowledge
	counts  map[string]float64
	words   int
	Said    []string    // what the vectors are of
	Vectors [][]float32 // none until the projection of meaning has read of it
}

// Everything is what the world's tenant knows by now.
func (w *World) Everything() Everything {
	w.T.Helper()
	return Known(w, w.Items())
}

// Known is items with what there is to compare.
func Known(w *World, items map[string]*domain.Knowledge) Everything {
	w.T.Helper()
	all := Everything{}
	for id, item := range items {
		k := &known{Knowledge: item}
		k.counts, k.words = termsOf(item)
		all[id] = k
		if item.Number > w.Read[w.By.Tenant] {
			continue
		}
		for _, part := range text.Pieces(item.Text.Content, 2000) {
			whole := slices.DeleteFunc([]string{item.Text.Task, item.Text.Abstract, part},
				func(s string) bool { return s == "" })
			k.Said = append(k.Said, strings.Join(whole, "\n"))
		}
		k.Vectors = w.Embed(embedding.Document, k.Said...)
		if w.DB.Engine == database.SQLite { // it keeps a byte per dimension
			for i, v := range k.Vectors {
				k.Vectors[i] = Must(embedding.Decode(embedding.Encode(v), len(v)))(w.T)
			}
		}
	}
	return all
}

func (w *World) Embed(kind embedding.Kind, texts ...string) [][]float32 {
	w.T.Helper()
	vectors := Must(embedding.Builtin{}.Embed(w.T.Context(), texts, kind))(w.T)
	return vectors
}

// Hits ranks every item.
func (e Everything) Hits(w *World, s domain.Search) []domain.Hit {
	w.T.Helper()
	s = s.Asked()
	asked := s.Vector
	if asked == nil {
		asked = w.Embed(embedding.Query, s.Text)[0]
	}
	if !slices.ContainsFunc(slices.Collect(maps.Values(e)), func(k *known) bool {
		_, shared := s.Audience().Best(k.Scopes)
		return shared && IsLive(k.Knowledge) && Passes(k.Knowledge, s.Filter) && k.contains(s.Filter)
	}) {
		s.Filter.Phrases = nil
	}
	words := e.WordScores(s)
	calibration := embedding.Builtin{}.Calibration()
	var candidates []domain.Candidate
	for _, k := range e {
		if !IsLive(k.Knowledge) || !Passes(k.Knowledge, s.Filter) || !k.contains(s.Filter) {
			continue
		}
		cosine := -1.0
		for _, vector := range k.Vectors {
			cosine = max(cosine, embedding.Cosine(asked, vector))
		}
		c := domain.Candidate{
			ID: k.ID, Scopes: k.Scopes, Confidence: k.Confidence, Position: k.Position,
			Lexical: words[k.ID], Score: words[k.ID],
		}
		if len(k.Vectors) > 0 {
			c.Semantic = calibration.Score(cosine)
			c.Score = calibration.Join(c.Semantic, c.Lexical)
			if len(k.Vectors) == 0 {
				c.Score = c.Lexical
			}
		}
		if k.ID == s.Text {
			c.Named, c.Score = true, 1
		}
		candidates = append(candidates, c)
	}
	return domain.Rank(candidates, s.Audience(), s.Order, 0, len(candidates))
}

// contains tells whether an item contains what a question has in quotes, and not what it leaves out.
func (k *known) contains(f domain.Filter) bool {
	values := slices.Concat(slices.Collect(maps.Values(k.Text.Tags))...)
	said := strings.Join(append(values, k.Text.Content, k.Text.Task, k.ID), " | ")
	for _, phrase := range f.Phrases {
		if !text.Contains(said, phrase) {
			return false
		}
	}
	for _, without := range f.Without {
		terms := text.Query(without)
		if len(terms) == 1 && k.counts[terms[0].Term] > 0 || len(terms) > 1 && text.Contains(said, without) {
			return false
		}
	}
	return true
}

// WordScores is BM25 over what the audience may see, or over the one scope that the filter names of that.
func (e Everything) WordScores(s domain.Search) map[string]float64 {
	audience := s.Audience()
	if scope := s.Filter.Scope; scope != "" && (audience.Everything || slices.Contains(audience.Scopes, scope)) {
		audience = domain.Audience{Scopes: []domain.Scope{scope}}
	}
	var seen []*known
	all, length := 0, 0
	for _, k := range e {
		if times := len(shared(audience, k.Knowledge)); times > 0 && IsLive(k.Knowledge) {
			all, length = all+times, length+times*k.words
			seen = append(seen, k)
		}
	}
	average := float64(length) / float64(all)
	with := map[string][]*known{}
	for _, term := range text.Query(s.Text) {
		for _, k := range seen {
			if k.counts[term.Term] > 0 {
				with[term.Term] = append(with[term.Term], k)
			}
		}
	}
	scores, attainable := map[string]float64{}, 0.0
	for _, term := range text.Query(s.Text) {
		worth := text.IDF(len(seen), len(with[term.Term]))
		attainable += worth * text.Attainable(term.Term, len(with[term.Term]) > 0)
		for _, k := range with[term.Term] {
			if term.Beside && scores[k.ID] == 0 {
				continue
			}
			scores[k.ID] += worth * text.Saturation(int(k.counts[term.Term]), k.words, average)
		}
	}
	for id, score := range scores {
		scores[id] = text.WordScore(score, attainable)
	}
	return scores
}

// IsLive tells whether answers may contain an item at all.
func IsLive(k *domain.Knowledge) bool {
	return k.Status == domain.Active || k.Status == domain.IsSuperseded
}

// shared are the scopes that an item shares with the audience.
func shared(audience domain.Audience, k *domain.Knowledge) []domain.Scope {
	if audience.Everything {
		return []domain.Scope{""}
	}
	return slices.DeleteFunc(slices.Clone(k.Scopes), func(s domain.Scope) bool {
		return !slices.Contains(audience.Scopes, s)
	})
}

// near is how far a score may be off: PostgreSQL keeps vectors in half precision.
const near = 1e-3

func off(got, want float64) bool { return math.Abs(got-want) > near }

// Verdict holds an answer against the ranking of everything.
type Verdict struct {
	search    domain.Search
	minScore  float64
	threshold float64 // of the best hits
	truth     map[string]domain.Hit
}

func NewVerdict(s domain.Search, all []domain.Hit, minScore float64) Verdict {
	v := Verdict{search: s, minScore: minScore, truth: map[string]domain.Hit{}}
	for _, hit := range all {
		v.truth[hit.ID] = hit
		if hit.Named {
			continue
		}
		v.threshold = max(v.threshold, domain.NearTie(hit.Score), minScore)
	}
	for id, hit := range v.truth {
		hit.Best = hit.Score >= v.threshold
		v.truth[id] = hit
	}
	return v
}

// Complaint says where an answer differs from the truth; empty if it does not. Hits whose weights are
// nearer than precision can tell may change places.
func (v Verdict) Complaint(got []domain.Found) string {
	there := map[string]bool{}
	for i, hit := range got {
		if i > 0 && hit.Named {
			return hit.ID + " is not first"
		}
		if wrong := v.wrong(hit.Hit); wrong != "" {
			return hit.ID + wrong
		}
		if i > 0 && !got[i-1].Named && v.after(got[i-1].Hit, hit.Hit) {
			return got[i-1].ID + " comes before " + hit.ID
		}
		there[hit.ID] = true
	}
	for id, hit := range v.truth {
		switch {
		case hit.Named && !there[id]:
			return id + " is not there, which the question names"
		case there[id] || hit.Score < v.minScore+near:
		case len(got) < v.search.Limit:
			return id + " is missing"
		case off(hit.Score, v.threshold) && !got[len(got)-1].Named && v.after(got[len(got)-1].Hit, hit):
			return id + " is missing, while " + got[len(got)-1].ID + " is there"
		}
	}
	return ""
}

func (v Verdict) wrong(hit domain.Hit) string {
	want, found := v.truth[hit.ID]
	switch {
	case !found:
		return " should not be there"
	case off(hit.Semantic, want.Semantic):
		return " has the wrong semantic score"
	case off(hit.Lexical, want.Lexical):
		return " has the wrong lexical score"
	case off(hit.Score, want.Score) || off(hit.Weight, want.Weight):
		return " has the wrong score"
	case hit.Score < v.minScore:
		return " is below the threshold"
	case hit.Scope != want.Scope:
		return " has the wrong scope"
	case hit.Best != want.Best && off(want.Score, v.threshold):
		return " is wrongly among the best, or not"
	}
	return ""
}

// after tells whether a certainly belongs behind b.
func (v Verdict) after(a, b domain.Hit) bool {
	if v.search.Order == domain.ByPriority {
		if a.Best != b.Best {
			return b.Best
		}
		if tier := cmp.Compare(v.tier(a.Scope), v.tier(b.Scope)); a.Best && tier != 0 {
			return tier > 0
		}
	}
	if a.Weight == b.Weight {
		return a.Position < b.Position
	}
	return a.Weight < b.Weight-2*near
}

// tier is the tier of a scope, or the last one if it is not the caller's.
func (v Verdict) tier(s domain.Scope) domain.Tier {
	if audience := v.search.Audience(); audience.Everything && !slices.Contains(audience.Near, s) {
		return domain.TierPublic
	}
	return s.Tier()
}

// Passes is the filter as its fields are documented, one item at a time.
func Passes(k *domain.Knowledge, f domain.Filter) bool {
	statuses := f.Statuses
	if len(statuses) == 0 {
		statuses = []domain.Status{domain.Active}
	}
	return slices.Contains(statuses, k.Status) &&
		oneOf(k.Type, f.Types) && oneOf(k.ContextType, f.ContextTypes) && oneOf(k.Category, f.Categories) &&
		orAny(k.Owner, f.Owner) && orAny(k.Visibility(), f.Visibility) &&
		orAny(k.Polarity, f.Polarity) && orAny(k.Source.TraceID, f.TraceID) &&
		(f.Scope == "" || slices.Contains(k.Scopes, f.Scope)) &&
		strings.HasPrefix(k.Text.URI, f.URIPrefix) &&
		(len(f.Under) == 0 || slices.ContainsFunc(f.Under, domain.URI(k.Text.URI).Within)) &&
		(f.Stale == nil || *f.Stale == (k.Stale.Reporters > 0)) &&
		(f.Contested == nil || *f.Contested == k.Rating().Contested()) &&
		(f.Expired == nil || *f.Expired == k.Expired) &&
		(f.MinConfidence == nil || k.Confidence >= *f.MinConfidence) &&
		(f.MaxConfidence == nil || k.Confidence <= *f.MaxConfidence) &&
		within(k.CreatedAt, f.CreatedFrom, f.CreatedTo) && within(k.UpdatedAt, f.UpdatedFrom, f.UpdatedTo) &&
		oneOf(domain.URI(k.Text.URI).Level(), f.Levels) && !(f.NoArchives && domain.IsArchive(k.ID)) &&
		!slices.ContainsFunc(f.Tagged(), func(wanted domain.Tags) bool { return !tagged(k.Text.Tags, wanted) })
}

func oneOf[T comparable](value T, accepted []T) bool {
	return len(accepted) == 0 || slices.Contains(accepted, value)
}

func orAny[T ~string](value, wanted T) bool { return wanted == "" || value == wanted }

// within counts the beginning in and the end out.
func within(at, from, to time.Time) bool {
	return !at.Before(from) && (to.IsZero() || at.Before(to))
}

// tagged asks for every key with any of its values, or without values for the key itself.
func tagged(tags, wanted domain.Tags) bool {
	for key, values := range wanted {
		has, there := tags[key]
		if !there || len(values) > 0 && !slices.ContainsFunc(values, func(v string) bool { return slices.Contains(has, v) }) {
			return false
		}
	}
	return true
}
