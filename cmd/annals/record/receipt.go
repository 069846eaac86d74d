package record

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/annals-kb/annals/cmd/annals/knowledge"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// ReceiptCommands are the commands about what callers were given.
type ReceiptCommands struct {
	Show   receiptShowCommand   `cmd:""`
	List   receiptListCommand   `cmd:""`
	Verify receiptVerifyCommand `cmd:""`
}

func receiptPath(more ...string) []string { return append([]string{"v1", "receipts"}, more...) }

type receiptShowCommand struct {
	terminal.Remote

	Receipt string `arg:"" name:"receipt"`
	Why     bool
	Today   bool
}

func (s *receiptShowCommand) Run(ctx context.Context, c *terminal.Console) error {
	q := client.Get(receiptPath(s.Receipt)...)
	if s.Today {
		q.Query = url.Values{"today": {"true"}}
	}
	var shown api.ReceiptShown
	return s.Answer(ctx, c, q, &shown, func() error {
		showReceipt(c, shown)
		for i := range shown.Items {
			showGiven(c, shown, i, s.Why)
		}
		if shown.Today != nil {
			showToday(c, *shown.Today)
		}
		if !shown.Same {
			return notVerified(fmt.Errorf("%s is not what was given", shown.ID), "annals receipt verify names what was changed")
		}
		return nil
	})
}

// askedBy is who asked, and for whom.
func askedBy(r api.Receipt) string {
	return cmp.Or(terminal.Joined(" for ", r.Caller, r.OnBehalfOf), "nobody known")
}

func showReceipt(c *terminal.Console, s api.ReceiptShown) {
	fields := terminal.NewTable("", "")
	fields.Row("receipt", s.ID)
	fields.Row("who", terminal.Joined(", ", askedBy(s.Receipt), s.Authentication))
	fields.Field("host", s.Host)
	fields.Field("session", s.Session)
	fields.Field("trace", s.TraceID)
	fields.Row("when", s.At)
	fields.Row("request", fmt.Sprintf("%s, status %d, %s", s.Route, s.Status, kindsOfReceipts[s.Kind]))
	fields.Field("question", s.Question)
	if s.QuestionErased {
		fields.Row("question", terminal.Faint.Render("erased"))
	}
	fields.Field("as of", positionOf(s.AsOf))
	fields.Row("log", positionOf(s.Position))
	fields.Field("ranking", terminal.Joined(", embedder ", s.Ranking, s.Embedder))
	switch {
	case s.Proof != nil:
		fields.Row("sealed", fmt.Sprintf("with %s at position %d", terminal.Several(int(s.Proof.Count-1), "other"), s.Sealed))
	case s.Sealed == 0:
		fields.Row("sealed", "not yet")
	}
	state := terminal.Green.Render("as it was given")
	switch {
	case !s.Same:
		state = terminal.Red.Render("not what was given")
	case slices.ContainsFunc(s.Given, func(g api.ReceiptGiven) bool { return g.State != "unchanged" }):
		state = terminal.Green.Render("as it was given, but for what is marked")
	}
	fields.Row("answer", state)
	for _, fault := range s.Faults {
		fields.Row("", terminal.Red.Render(terminal.Printable(fault)))
	}
	c.Table(fields)
}

// kindsOfReceipts describe what a caller had from an answer.
var kindsOfReceipts = map[string]string{"use": "a use", "look": "a look", "denied": "denied"}

func positionOf(position int64) string {
	if position == 0 {
		return ""
	}
	return fmt.Sprint("position ", position)
}

// showGiven shows an item of an answer in its wording of then.
func showGiven(c *terminal.Console, s api.ReceiptShown, i int, why bool) {
	item, given := s.Items[i], s.Given[i]
	score, state := "", ""
	if item.Score > 0 {
		score = fmt.Sprintf("%.2f", item.Score)
	}
	if item.Cut {
		state = "not told"
	}
	if given.State != "unchanged" {
		state = terminal.Joined(", ", state, given.State)
	}
	c.Lines("")
	c.Block([]string{
		fmt.Sprintf("%d.", i+1), score, item.Band, string(terminal.Bold.Render(terminal.Printable(item.ID))),
		terminal.Printable(item.Scope), fmt.Sprint("version ", item.Version), string(terminal.Amber.Render(state)),
	}, 1, terminal.OneLine(item.Title, c.Width-2))
	if why && item.Score > 0 {
		c.Lines(c.Indented(partsOf(item.Parts), "    "))
	}
	switch k := given.Knowledge; {
	case given.State == "hidden":
		c.Lines(c.Indented("you may not see this item", "    "))
	case k != nil:
		c.Lines(c.Indented(wordingOf(*k), "    "))
	default:
		c.Lines(c.Indented("its wording was destroyed", "    "))
	}
	if given.Certificate != "" {
		c.Lines(c.Indented("see event "+given.Certificate, "    "))
	}
	if given.Fault != "" {
		c.Lines(c.Indented(given.Fault, "    "))
	}
}

// wordingOf is what an item said, without its title again.
func wordingOf(k api.Knowledge) string {
	polarity := ""
	if k.Polarity == "negative" {
		polarity = "[pitfall] "
	}
	return polarity + strings.TrimSpace(k.Content)
}

func partsOf(p api.ReceiptParts) string {
	parts := []string{fmt.Sprintf("words %.2f", p.Lexical), fmt.Sprintf("meaning %.2f", p.Semantic)}
	if p.Model > 0 {
		parts = append(parts, fmt.Sprintf("by the model %.2f", p.Model))
	}
	return strings.Join(append(parts, fmt.Sprintf("confidence %.2f", p.Confidence)), ", ")
}

// showToday shows what the same caller would be given now.
func showToday(c *terminal.Console, t api.ReceiptToday) {
	c.Lines("")
	if t.Refused != "" {
		c.Say("%s: %s", terminal.Bold.Render("today there is no answer"), t.Refused)
	}
	rows := terminal.NewTable("THEN", "TODAY", "SCORE", "ID", "CHANGE", "TITLE")
	place := func(n int) string {
		if n == 0 {
			return "–"
		}
		return fmt.Sprint(n)
	}
	for _, hit := range t.Items {
		score := ""
		if hit.Now > 0 && hit.Score > 0 {
			score = fmt.Sprintf("%.2f", hit.Score)
		}
		change := terminal.Amber.Render(strings.Join(hit.Change, ", "))
		title := terminal.OneLine(hit.Title, knowledge.SnippetColumns)
		rows.Row(place(hit.Then), place(hit.Now), score, hit.ID, change, title)
	}
	c.Table(rows)
	if len(t.Items) == 0 {
		c.Say("today: nothing, as then")
	}
}

// chosenReceipts are the flags that choose receipts.
type chosenReceipts struct {
	Agent   string `group:"answers" placeholder:"ENTITY"`
	Item    string `group:"answers" complete:"ids" placeholder:"ID"`
	Trace   string `group:"answers" placeholder:"ID"`
	Session string `group:"answers" placeholder:"NAME"`
	Host    string `group:"answers" placeholder:"NAME"`
	Since   string `group:"answers" placeholder:"TIME"`
	Until   string `group:"answers" placeholder:"TIME"`
}

func (r chosenReceipts) query() (url.Values, error) {
	query := url.Values{}
	terminal.Put(query, "agent", r.Agent)
	terminal.Put(query, "item", r.Item)
	terminal.Put(query, "trace_id", r.Trace)
	terminal.Put(query, "session", r.Session)
	terminal.Put(query, "host", r.Host)
	return query, terminal.PutTimes(query, map[string]string{"since": ago(r.Since), "until": ago(r.Until)})
}

// while matches a duration such as 7d.
var while = regexp.MustCompile(`^\d+[a-z]+$`)

// ago is a time that may be given as a duration before now.
func ago(given string) string {
	if while.MatchString(given) {
		return "-" + given
	}
	return given
}

type receiptListCommand struct {
	terminal.Remote
	terminal.Tabular
	chosenReceipts

	Kind  string `group:"answers" enum:",use,look,denied" default:"" placeholder:"use|look|denied"`
	Limit int    `short:"n" default:"20" placeholder:"N"`
}

func (l *receiptListCommand) Run(ctx context.Context, c *terminal.Console) error {
	query, err := l.query()
	if err != nil {
		return err
	}
	terminal.Put(query, "kind", l.Kind)
	server, err := l.Connect()
	if err != nil {
		return err
	}
	page, err := terminal.ReadFirst[terminal.Kept[api.Receipt]](ctx, server, receiptPath(), query, l.Limit)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(map[string]any{"items": page.Items})
	}
	if len(page.Items) == 0 {
		l.Empty(c, "nobody was told anything like this")
		return nil
	}
	rows := terminal.NewTable("ID", "WHEN", "WHO", "HOST", "ITEMS", "WHAT")
	rows.Spare = []string{"HOST", "ITEMS"}
	for _, one := range page.Items {
		r := one.Value
		rows.Row(r.ID, r.At, askedBy(r), r.Host, fmt.Sprint(len(r.Items)), whatOf(r))
	}
	if err := l.Show(c, rows); err != nil {
		return err
	}
	if page.NextCursor != "" {
		c.Note("there are more: raise --limit, or narrow the time with --since and --until")
	}
	return nil
}

// whatOf is the question, or else the titles of what was given.
func whatOf(r api.Receipt) string {
	if r.Kind == "denied" {
		return fmt.Sprintf("denied: %s, status %d", r.Route, r.Status)
	}
	if r.Question != "" {
		return r.Question
	}
	var titles []string
	for _, item := range r.Items {
		if item.Title != "" {
			titles = append(titles, item.Title)
		}
	}
	return cmp.Or(strings.Join(titles, "; "), r.Route)
}

type receiptVerifyCommand struct {
	terminal.Remote

	Since string `group:"answers" placeholder:"TIME"`
	Until string `group:"answers" placeholder:"TIME"`
}

func (v *receiptVerifyCommand) Run(ctx context.Context, c *terminal.Console) error {
	q := client.Get(receiptPath("verification")...)
	q.Query = url.Values{}
	if err := terminal.PutTimes(q.Query, map[string]string{"since": ago(v.Since), "until": ago(v.Until)}); err != nil {
		return err
	}
	var found api.ReceiptVerification
	if err := v.Answer(ctx, c, q, &found, func() error {
		showVerification(c, found)
		return nil
	}); err != nil || found.Verified {
		return err
	}
	return notVerified(fmt.Errorf("%s", terminal.Several(found.Count, "difference")),
		"keep a copy of what you have; a backup from before says what was there")
}

func showVerification(c *terminal.Console, v api.ReceiptVerification) {
	if len(v.Faults) > 0 {
		rows := terminal.NewTable("RECEIPT", "WHAT", "FINDING")
		for _, fault := range v.Faults {
			rows.Row(fault.Receipt, terminal.Red.Render(fault.Kind), fault.Detail)
		}
		c.Table(rows)
		if more := v.Count - len(v.Faults); more > 0 {
			c.Say("and %d more", more)
		}
	}
	for _, gap := range v.Gaps {
		c.Say("%s %s", terminal.Amber.Render("gap"), gap.Detail)
	}
	if v.Verified {
		c.Say("%s: %s, of which %d are sealed, all as they were given", terminal.Green.Render("verified"),
			terminal.Several(int(v.Receipts), "receipt"), v.Sealed)
	}
}
