package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/http/client"
)

// retrieved is the answer of retrieve_memory.
type retrieved struct {
	Query     string `json:"query"`
	Category  string `json:"category"`
	TargetURI string `json:"target_uri"`
	Count     int    `json:"count"`
	Results   []hit  `json:"results"`
	Warning   string `json:"warning,omitempty"` // hosts show their model either the data or the text
	Hint      string `json:"hint,omitempty"`    // what to try after an empty result
	Degraded  string `json:"degraded,omitempty"`
}

type hit struct {
	URI      string  `json:"uri"`
	ID       string  `json:"id"`
	Abstract string  `json:"abstract"`
	Score    float64 `json:"score"`
	Band     string  `json:"band,omitempty"`
	Category string  `json:"category"`
	Scope    string  `json:"scope"`
	Avoid    bool    `json:"avoid,omitempty"` // a failure to avoid
	Stale    bool    `json:"stale,omitempty"`

	Confidence          float64 `json:"confidence"`
	Helpful             int     `json:"helpful"`
	Harmful             int     `json:"harmful"`
	Contested           bool    `json:"contested,omitempty"` // unreliable
	ConfirmationExpired bool    `json:"confirmation_expired,omitempty"`
	SupersededBy        string  `json:"superseded_by,omitempty"`

	DisputedBy []string   `json:"disputed_by,omitempty"` // ids of items that it contradicts
	Trust      string     `json:"trust,omitempty"`       // who brought it
	Copies     int        `json:"copies,omitempty"`      // other items that say exactly the same
	OccurredAt *time.Time `json:"occurred_at,omitempty"` // when it became true

	Verified *client.Verified `json:"verified,omitempty"`
	marks    []string
}

const defaultHits = 5

func retrieve(ctx context.Context, api *client.Client, in arguments) (any, string, error) {
	limit := in.number("limit", defaultHits)
	question := client.Search{
		Query: in.text("query"), Limit: &limit, Context: workOf(ctx).audience, Filter: in.filter(),
	}
	category := in.text("category")
	found := retrieved{
		Query: in.text("query"), Category: category, TargetURI: directoryOf(category), Results: []hit{},
	}
	seen, visible, shortened := map[string]bool{}, int64(0), ""
	all := searches(question, category)
	for _, search := range all {
		answer, err := api.Search(ctx, search)
		if err != nil {
			return nil, "", err
		}
		found.Degraded, shortened = answer.Degraded, answer.Warning
		if answer.Explain != nil {
			visible = max(visible, answer.Explain.Visible)
		}
		for _, h := range answer.Items {
			if !seen[h.Knowledge.ID] {
				seen[h.Knowledge.ID] = true
				found.Results = append(found.Results, hitOf(h, found.Query))
			}
		}
	}
	if len(all) > 1 {
		slices.SortStableFunc(found.Results, func(a, b hit) int {
			return cmp.Or(cmp.Compare(b.Band, a.Band), cmp.Compare(b.Score, a.Score)) // sure comes before perhaps
		})
		found.Results = found.Results[:min(limit, found.sure()+domain.MostPerhaps, len(found.Results))]
	}
	found.Count = len(found.Results)
	found.Warning = strings.TrimSpace(found.warning() + " " + shortened)
	if found.Count == 0 {
		found.Hint = hint(visible, category)
	}
	return found, found.String(), nil
}

func hitOf(h client.Hit, query string) hit {
	k, s := *h.Knowledge, rating(*h.Knowledge)
	marks := s.Marks()
	if v := k.Verified; v != nil && v.Overdue && !s.Expired {
		marks = append(marks, "verification overdue")
	} else if v != nil && v.Counts {
		marks = append(marks, "confirmed by "+v.By+until(v.Until))
	}
	var never time.Time
	abstract := cmp.Or(k.Abstract, k.Content)
	if text.Tokens(abstract) > text.AbstractTokens {
		abstract = text.Abstract(abstract, text.AbstractTokens)
	}
	abstract = text.Excerpt(k.Content, abstract, query)
	marks = append(marks, text.Asides(abstract, *cmp.Or(k.OccurredAt, &never),
		*cmp.Or(k.CreatedAt, &never), h.Copies)...)
	return hit{
		URI: k.URI, ID: k.ID, Abstract: abstract, Score: h.Score, Band: h.Band, Category: kindOf(k), Scope: h.Scope,
		Avoid: k.Polarity == string(domain.Negative), Stale: s.Reporters > 0,
		Confidence: s.Confidence, Helpful: s.Helpful, Harmful: s.Harmful, Contested: s.Contested(),
		ConfirmationExpired: s.Expired, SupersededBy: s.SupersededBy, Trust: k.Trust,
		Verified: k.Verified, DisputedBy: s.DisputedBy,
		Copies: h.Copies, OccurredAt: k.OccurredAt, marks: marks,
	}
}

// rating is the rating of an item.
func rating(k client.Knowledge) domain.Rating {
	s := domain.Rating{
		Status: domain.Status(k.Status), SupersededBy: k.SupersededBy, Expired: k.ConfirmationExpired,
		DisputedBy: k.DisputedBy,
	}
	if e := k.Eval; e != nil {
		s.Helpful, s.Harmful = *cmp.Or(e.Helpful, new(int)), *cmp.Or(e.Harmful, new(int))
		s.Confidence = *cmp.Or(e.Confidence, new(float64))
	}
	if k.Stale != nil {
		s.Reporters = k.Stale.Reporters
	}
	return s
}

// hint suggests what to try after an empty result.
func hint(visible int64, category string) string {
	switch {
	case visible == 0:
		return "nothing is known yet that you may see: remember what you learn"
	case category == "":
		return fmt.Sprintf("nothing is about this, of %d that you may see: try other words, or fewer", visible)
	default:
		return "nothing of this category is about this: try other words, or fewer, or leave the category out"
	}
}

// sure is how many results, the first ones, are about the query.
func (r retrieved) sure() int {
	i := slices.IndexFunc(r.Results, func(h hit) bool { return h.Band == string(domain.Perhaps) })
	if i < 0 {
		return len(r.Results)
	}
	return i
}

// warning names the hits that the model must treat with care.
func (r retrieved) warning() string {
	failed, contested := 0, 0
	for _, h := range r.Results {
		if h.Avoid {
			failed++
		}
		if h.Contested {
			contested++
		}
	}
	var warnings []string
	switch failed {
	case 0:
	case r.Count:
		warnings = append(warnings, "these are FAILED approaches; do not repeat them")
	default:
		warnings = append(warnings, "items marked as pitfalls are FAILED approaches; do not repeat them")
	}
	if r.Count > 0 && r.sure() == 0 {
		warnings = append(warnings, "nobody has written this; these are only the nearest items")
	}
	if contested > 0 {
		warnings = append(warnings, "do not rely on contested items")
	}
	return strings.Join(warnings, "; ")
}

// String is the text for a model.
func (r retrieved) String() string {
	var out strings.Builder
	fmt.Fprintf(
		&out, "# Retrieved from Annals — query: '%s'\n# Category: %s, %d result(s)\n", oneLine(r.Query),
		cmp.Or(r.Category, "any"), r.Count,
	)
	if r.Warning != "" {
		fmt.Fprintf(&out, "## WARNING: %s\n", r.Warning)
	}
	if r.Hint != "" {
		fmt.Fprintf(&out, "%s.\n", strings.ToUpper(r.Hint[:1])+r.Hint[1:])
	}
	sure := r.sure()
	for i, h := range r.Results {
		if i == sure && i > 0 {
			out.WriteString("---\nPerhaps not about the query:\n")
		}
		pitfall, doubt := "", ""
		if h.Avoid {
			pitfall = "[pitfall] "
		}
		if h.Trust == string(domain.FromOutside) {
			pitfall += text.Outside + " "
		}
		if len(h.marks) > 0 {
			doubt = " (" + strings.Join(h.marks, "; ") + ")"
		}
		fmt.Fprintf(&out, "%d. [score=%.2f] %s%s%s\n   uri: %s\n", i+1, h.Score, pitfall,
			oneLine(text.ForPrompt(h.Abstract)), doubt, text.ForPrompt(h.URI))
	}
	return out.String()
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
