package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// report is one of the API's reports.
type report struct {
	Name, Title, Explain string
	Needs                string  // the parameter that it cannot do without; empty for none
	Fields               []field // its parameters
	Columns              []column
}

// column is a field of a report's rows, its name on the page, and how it is shown.
type column struct{ Field, Label, Kind string }

// reports are all reports, in the order of the list.
func reports() []report {
	from, to := field{Name: "from", Label: "From"}, field{Name: "to", Label: "Before"}
	scope, owner := field{Name: "scope", Label: "Scope"}, field{Name: "owner", Label: "Owner"}
	actor := field{Name: "actor", Label: "Actor"}
	return []report{
		{
			Name: "known", Title: "What was known on a day", // it has a page of its own
			Explain: "The items about a subject as they were, who could read them, what came later, and a file with the proof.",
		},
		{
			Name: "actor", Title: "What an actor did", Needs: "actor", Columns: eventColumns(),
			Explain: "Everything that an entity did, or that was done on its behalf, oldest first.",
			Fields:  []field{actor, from, to},
		},
		{
			Name: "changes", Title: "Changes in a scope", Needs: "scope", Fields: []field{scope, from, to},
			Explain: "Everything that happened to the items of a scope, with what it changed, oldest first.",
			Columns: append(eventColumns(), column{"changes", "What changed", "changes"}),
		},
		{
			Name: "harm", Title: "Harmful knowledge", Fields: []field{scope, owner, from, to}, Columns: standing(
				column{"count", "Harmful", "number"}, column{"helpful", "Helpful", "votes"},
				column{"confidence", "Confidence", "share"},
			),
			Explain: "The items that were found harmful most often.",
		},
		{
			Name: "stale", Title: "Stale knowledge", Fields: []field{scope, owner, from, to}, Columns: standing(
				column{"count", "Reported stale", "number"}, column{"confirmation_expired", "confirmation expired", "mark"},
				column{"stale_reason", "Why", "said"}, column{"confidence", "Confidence", "share"},
			),
			Explain: "The items that most people report stale, or whose confirmation has expired.",
		},
		{
			Name: "health", Title: "Scope health", Fields: []field{scope}, Columns: []column{
				{"scope", "Scope", "scopes"},
				{"items", "Items", "number"},
				{"verified", "Verified", "part"},
				{"stale", "Stale", "part"},
				{"contested", "Contested", "part"},
				{"overdue", "Overdue", "part"},
				{"unowned", "Without an active owner", "part"},
				{"median_age_days", "Median age in days", ""},
				{"new", "New", "part"},
				{"doubtful", "Doubtful", "part"},
			},
			Explain: "How well the active items of each scope are looked after.",
		},
		{
			Name: "declining", Title: "Declining confidence", Fields: []field{scope, owner, from, to}, Columns: standing(
				column{"before", "Confidence before", "share"}, column{"after", "Confidence after", "share"},
				column{"count", "Falls", "number"},
			),
			Explain: "The items whose confidence fell furthest: in the last 30 days, unless you choose a time.",
		},
		{
			Name: "access", Title: "Who can read a scope", Needs: "scope", Fields: []field{scope},
			Explain: "Everyone who can read it, with each reason. In the past: who could read it then.",
			Columns: []column{
				{"subject", "Who", "entity"},
				{"reason", "Why", "reader"},
				{"through", "Through", ""},
				{"role", "Role", "value"},
				{"key", "Key", ""},
				{"since", "Since", "time"},
			},
		},
	}
}

func eventColumns() []column {
	return []column{
		{"position", "Position", "event"},
		{"recorded_at", "When", "time"},
		{"name", "What", "value"},
		{"actor", "Who", "entity"},
		{"on_behalf_of", "For whom", "entity"},
		{"stream", "Stream", "stream"},
		{"reason", "Why", "said"},
	}
}

// standing are the columns of an item that stands out, with those that say why.
func standing(why ...column) []column {
	return slices.Concat([]column{{"id", "Item", "item"}}, why, []column{
		{"last", "Newest", "time"},
		{"owner", "Owner", "entity"},
		{"scopes", "Scope", "scopes"},
		{"status", "Status", "value"},
	})
}

// cell is a cell of a report's table.
type cell struct {
	column
	Text    string
	Parts   []string // of a list
	Stream  any      // what a stream is called
	Address string   // where it leads; empty for nowhere
	Time    time.Time
	Share   float64
	Edits   []edit
}

func cellOf(p *page, c column, row map[string]any) cell {
	one := cell{column: c, Parts: partsOf(row[c.Field])}
	one.Text = strings.Join(one.Parts, ", ")
	if one.Text == "" {
		return one
	}
	switch c.Kind {
	case "time":
		one.Time, _ = time.Parse(time.RFC3339Nano, fmt.Sprint(row[c.Field]))
	case "share", "part":
		one.Share, _ = row[c.Field].(float64)
	case "number":
		one.Text = grouped(one.Text)
	case "votes":
		if helpful, is := row[c.Field].(float64); is {
			one.Text = grouped(others(new(int(helpful))))
		}
	case "reader":
		one.Kind, one.Text = "value", readerReasons()[one.Text]
	case "event":
		one.Text, one.Address = grouped(one.Text), p.To("log/"+url.PathEscape(fmt.Sprint(row["event_id"])))
	case "entity":
		one.Address = p.To("log", "actor", one.Text)
	case "same":
		one.Address = p.To("log", c.Field, one.Text)
	case "stream":
		link := p.Stream(one.Text)
		one.Stream, one.Address = link.Text, link.Address
	case "item":
		one.Address = p.To("k/" + url.PathEscape(one.Text))
		if task, is := row["task"].(string); is && task != "" {
			one.Text = shortened(task, 80)
		}
	case "changes":
		one.Edits = changesOf(row)
	}
	return one
}

// readerReasons say why somebody can read a scope.
func readerReasons() map[string]string {
	return map[string]string{
		"self": "their own, or public", "directory": "member of the group", "key": "stated by the key",
		"role": "by the role of the key", "acts_for": "may act for those who read it",
	}
}

// changesOf are the changes of an event. What began an item changed nothing.
func changesOf(event map[string]any) []edit {
	var changes []api.Change
	raw, err := json.Marshal(event["changes"])
	if err != nil || json.Unmarshal(raw, &changes) != nil || event["version"] == 1.0 {
		return nil
	}
	return editsOf(changes, false)
}

// reported is the page of a report.
type reported struct {
	form    // of the filters
	Report  report
	Asked   bool     // all that the report needs is given
	Rows    [][]cell // without the columns that are empty in all of them
	Next    string
	Periods []period // to choose from
	CSV     string   // the address of the whole report as a file
}

// period is the days before now, and the address of the report about them.
type period struct {
	Days    int
	Address string
}

func listReports(*page) (any, error) { return reports(), nil }

// reportOf finds the report of the address.
func reportOf(p *page) (report, error) {
	all := reports()
	i := slices.IndexFunc(all, func(r report) bool { return r.Name == p.r.PathValue("name") })
	if i < 0 {
		return report{}, notFound(p)
	}
	return all[i], nil
}

// reportQuery reads a report's parameters. In the past, a report ends with the moment.
func reportQuery(p *page, r report) url.Values {
	query := p.params(namesOf(r.Fields)...)
	if r.Name == "access" { // which is of a moment, not of a period
		return p.asOf(query)
	}
	if at := p.Moment.RecordedAt; p.Moment.Past() && at != nil {
		end := at.UTC().Add(time.Microsecond) // the end is not a part of a period
		if to, _, err := domain.ParseTime(query.Get("to"), p.Now.UTC()); err != nil || to.After(end) {
			query.Set("to", end.Format(time.RFC3339Nano))
		}
	}
	return query
}

func readReport(p *page) (any, error) {
	r, err := reportOf(p)
	if err != nil {
		return nil, err
	}
	data := &reported{form: *newForm(p, r.Fields), Report: r, CSV: Root + "reports/" + r.Name + "/csv" + encode(p.Query)}
	for _, days := range []int{7, 30, 90} {
		if !slices.Contains(namesOf(r.Fields), "from") {
			break
		}
		from := p.Now.UTC().AddDate(0, 0, -days).Format(time.DateOnly)
		data.Periods = append(data.Periods, period{days, p.With("from", from, "to", "")})
	}
	query := reportQuery(p, r)
	if r.Needs != "" && !query.Has(r.Needs) {
		return data, nil
	}
	data.Asked = true
	query.Set("limit", "100")
	query["cursor"] = p.values("cursor")
	var rows []map[string]any
	rows, data.Next, err = pageOf[map[string]any](p, query, "v1", "reports", r.Name)
	if errors.Is(err, client.ErrNotFound) {
		data.Refused = problemOf(err)
		return nil, answer(p, "report", data, data.Refused.Status)
	}
	if err != nil {
		return nil, data.failed(p, err, "report", data)
	}
	columns := slices.DeleteFunc(slices.Clone(r.Columns), func(c column) bool {
		return !slices.ContainsFunc(rows, func(row map[string]any) bool { return row[c.Field] != nil })
	})
	for _, row := range rows {
		cells := make([]cell, len(columns))
		for i, column := range columns {
			cells[i] = cellOf(p, column, row)
		}
		data.Rows = append(data.Rows, cells)
	}
	return data, nil
}

// exportReport sends the whole report as CSV.
func exportReport(p *page) (any, error) {
	r, err := reportOf(p)
	if err == nil {
		err = download(p, "text/csv", r.Name+".csv", reportQuery(p, r), "v1", "reports", r.Name)
	}
	if err != nil {
		return nil, err
	}
	return nil, errAnswered
}
