package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

type SearchCommand struct {
	terminal.Remote

	Question []string `field:"query" arg:""`

	audience

	Limit    *int     `short:"n" placeholder:"N"`
	MinScore *float64 `placeholder:"0…1"`
	Order    string   `complete:"orders" placeholder:"WORD"`
	Level    *int     `placeholder:"0…2"`
	Explain  bool
	Everyone bool
	Copies   bool

	MinPosition int64 `placeholder:"N"`

	terminal.Tabular
	terminal.AsOfFlag
	terminal.Filters
}

func (s *SearchCommand) Run(ctx context.Context, c *terminal.Console) error {
	question, err := textOf(c, strings.Join(s.Question, " "), "query", mostQuery)
	if err != nil {
		return err
	}
	at, err := s.AsOfParameter()
	if err != nil {
		return err
	}
	q := client.Post(s.body(question, at), "v1", "search")
	if s.MinPosition != 0 {
		q.Query = url.Values{"min_position": {strconv.FormatInt(s.MinPosition, 10)}}
	}
	var found api.SearchAnswer
	return s.Answer(ctx, c, q, &found, func() error { return printAnswer(c, found, s.Tabular, s.Explain) })
}

func (s *SearchCommand) body(question, asOf string) api.Search {
	return api.Search{
		Query: question, Context: s.context(), AsOf: api.AsOf(asOf), Limit: s.Limit, MinScore: s.MinScore,
		Order: s.Order, Level: s.Level, Explain: s.Explain, Everyone: s.Everyone, Copies: s.Copies,
		Filter: s.Filter(),
	}
}

// Snippet is a short form of a hit: its task and the beginning of its text.
func (k Knowledge) Snippet(columns int) terminal.Markup {
	text := terminal.OneLine(cmp.Or(k.Abstract, k.Content), columns)
	text = terminal.Joined(": ", terminal.OneLine(k.Task, 80), text)
	if k.Polarity == "negative" {
		return terminal.Markupf("%s %s", terminal.Amber.Render("[pitfall]"), text)
	}
	return terminal.Markup(text)
}

// audience are the flags for the audience of a search.
type audience struct {
	User    string   `field:"context.user_id" placeholder:"ID"`
	Agent   string   `field:"context.agent_id" placeholder:"ID"`
	Project []string `field:"context.project_ids" placeholder:"ID"`
	Team    []string `field:"context.team_ids" placeholder:"ID"`
	Org     string   `field:"context.org_id" placeholder:"ID"`
}

// context is the audience; nil if no flag is set.
func (a audience) context() *api.Searcher {
	if a.User+a.Agent+a.Org == "" && len(a.Project)+len(a.Team) == 0 {
		return nil
	}
	return &api.Searcher{UserID: a.User, AgentID: a.Agent, ProjectIDs: a.Project, TeamIDs: a.Team, OrgID: a.Org}
}

// SnippetColumns is the length of a snippet.
const SnippetColumns = 240

// printAnswer shows the hits of a search, and with explain how they were found.
func printAnswer(c *terminal.Console, a api.SearchAnswer, t terminal.Tabular, explain bool) error {
	var err error
	switch {
	case len(a.Items) == 0:
		t.Empty(c, whyNothing(a))
	case c.Narrow() && !t.Chosen():
		printHits(c, a, explain)
	default:
		err = t.Show(c, tableOf(a, explain))
	}
	if err != nil {
		return err
	}
	if explain && a.Explain != nil {
		c.Say("")
		c.Table(howAnswered(a))
	}
	if a.Weak && (t.Quiet || len(t.Columns) > 0) {
		c.Note("%s", headOf(a))
	}
	if a.Degraded != "" {
		c.Note("incomplete: %s", a.Degraded)
	}
	if a.Warning != "" {
		c.Note("%s", a.Warning)
	}
	return nil
}

// firstPerhaps is the index of the first hit that may not be about the question, or -1.
func firstPerhaps(a api.SearchAnswer) int {
	return slices.IndexFunc(a.Items, func(h api.Hit) bool { return h.Band == string(domain.Perhaps) })
}

// headOf is what stands above these hits.
func headOf(a api.SearchAnswer) string {
	if a.Weak {
		return "nobody has written this; nearest:"
	}
	return "perhaps:"
}

// tableOf has a row for each hit.
func tableOf(a api.SearchAnswer, explain bool) *terminal.Table {
	rows := terminal.NewTable("SCORE", "SCOPE", "VOTES", "ID", terminal.Mark, "KNOWLEDGE")
	perhaps := firstPerhaps(a)
	for i, h := range a.Items {
		if i == perhaps {
			rows.Rule(headOf(a))
		}
		k := Knowledge{*h.Knowledge}
		text := terminal.Markup(strings.Join(textsOf(h, explain), "\n"))
		rows.Row(fmt.Sprintf("%.2f", h.Score), h.Scope, k.shortVotes(), k.ID, k.marks(), text)
	}
	if rows.Marked() == rows { // the text needs the columns of the marks
		rows.Spare = []string{"VOTES", "SCOPE"}
	}
	return rows
}

// printHits shows what each hit says below what it is. The texts of the best sure hits are wrapped, of the others one
// line is shown.
func printHits(c *terminal.Console, a api.SearchAnswer, explain bool) {
	const best, most = 3, 5
	perhaps := firstPerhaps(a)
	for i, h := range a.Items {
		k, lines := Knowledge{*h.Knowledge}, most
		if i == perhaps {
			c.Lines(string(terminal.Faint.Render(headOf(a))))
		}
		if i >= best || h.Band == string(domain.Perhaps) {
			lines = 1
		}
		owner := ""
		if k.Owner != h.Scope {
			owner = k.Owner
		}
		date := terminal.OrZero(k.CreatedAt).Local().Format(time.DateOnly)
		c.Block([]string{
			fmt.Sprintf("%.2f", h.Score), string(k.marks()), string(terminal.Bold.Render(k.ID)),
			terminal.Printable(h.Scope), terminal.Printable(owner), date, k.shortVotes(),
		}, lines, textsOf(h, explain)...)
	}
}

// textsOf are what a hit says, who confirmed it, and how it was found.
func textsOf(h api.Hit, explain bool) []string {
	k := Knowledge{*h.Knowledge}
	snippet := k.Snippet(SnippetColumns)
	asides := text.Asides(k.Content, terminal.OrZero(k.OccurredAt), terminal.OrZero(k.CreatedAt), h.Copies)
	beside := ""
	if h.Beside != "" {
		beside = "beside " + h.Beside
	}
	if aside := terminal.Joined(", ", append([]string{h.Reason, beside}, asides...)...); aside != "" {
		snippet = terminal.Amber.Render("("+aside+")") + " " + snippet
	}
	texts := []string{string(snippet)}
	if v := k.Verified; v != nil && v.Counts {
		confirmation := terminal.Joined(" until ", "confirmed by "+v.By, terminal.Text(v.Until))
		texts = append(texts, string(terminal.Faint.Render(confirmation)))
	}
	if explain {
		texts = append(texts, string(terminal.Faint.Render(howScored(h))))
	}
	return texts
}

// whyNothing explains an empty answer, if the server knows the reason.
func whyNothing(a api.SearchAnswer) string {
	if a.Explain == nil {
		return "nothing found"
	}
	e := a.Explain
	switch {
	case e.Visible == 0:
		return "nothing found: no knowledge is visible here"
	case e.Passed == 0:
		return fmt.Sprintf("nothing found: %d visible, but none passes the filters", e.Visible)
	case e.BestBelow > 0:
		return fmt.Sprintf("nothing found: %d visible, %d pass the filters; "+
			"the best scores %.2f, below the threshold of %.2f (--min-score)", e.Visible, e.Passed, e.BestBelow, a.MinScore)
	default:
		return fmt.Sprintf("nothing found: %d visible, %d pass the filters, none is about this", e.Visible, e.Passed)
	}
}

// howScored explains the score and the rank of a hit.
func howScored(h api.Hit) string {
	meaning := fmt.Sprintf("meaning %.2f", h.Parts.Semantic)
	switch {
	case h.Parts.Pending:
		meaning = "meaning not computed yet"
	case h.Parts.Model > 0:
		meaning += fmt.Sprintf(" (model %.2f)", h.Parts.Model)
	}
	words := fmt.Sprintf("words %.2f", h.Parts.Lexical)
	factor := ""
	switch {
	case h.Parts.Overdue:
		factor = fmt.Sprintf(" × %g (overdue)", domain.OverdueFactor)
	case h.Parts.Confirmed:
		factor = fmt.Sprintf(" × %g (confirmed by its verifier)", domain.ConfirmedFactor)
	}
	weight := fmt.Sprintf("confidence %.2f%s → weight %.2f", h.Parts.Confidence, factor, h.Weight)
	raised := strings.Join(h.Parts.Reasons, ", ")
	return terminal.Joined(" · ", meaning, words, raised, weight, strings.Join(h.Terms, " "))
}

// howAnswered explains how the search ran.
func howAnswered(a api.SearchAnswer) *terminal.Table {
	e := a.Explain
	audience := cmp.Or(strings.Join(e.Audience, ", "), "everything in the tenant")
	fields := terminal.NewTable("", "")
	fields.Field("searched", fmt.Sprintf("%s: %d visible, %d pass the filters, in %.1f ms", audience, e.Visible,
		e.Passed, e.TookMS))
	fields.Row("terms", strings.Join(e.Terms, " "))
	fields.Field("meaning", fmt.Sprintf("%s, threshold %.2f", a.Embedder, a.MinScore))
	for _, plan := range e.Plans {
		fields.Field("vectors", fmt.Sprintf("%s: %d by %s", cmp.Or(plan.Scope, "everything"), plan.Items, plan.Plan))
	}
	return fields
}
