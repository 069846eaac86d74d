package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// logPage is a part of the log.
type logPage struct {
	form      // of the filters
	Events    []api.Event
	Next      string // the cursor of the next page
	Following bool   // the page asks again every few seconds
	Counts    *bars
}

// eventFilters are the filters of the log.
func eventFilters() []field {
	return []field{
		{Name: "q", Label: "Words"},
		{Name: "name", Label: "Name"},
		{Name: "actor", Label: "Actor"},
		{Name: "on_behalf_of", Label: "For whom"},
		{Name: "stream", Label: "Stream"},
		{Name: "scope", Label: "Scope"},
		{Name: "owner", Label: "Owner"},
		{Name: "from", Label: "Recorded from"},
		{Name: "to", Label: "Recorded before"},
		{Name: "occurred_from", Label: "Occurred from"},
		{Name: "occurred_to", Label: "Occurred before"},
		{Name: "trace_id", Label: "Trace"},
		{Name: "correlation_id", Label: "Correlation"},
		{Name: "request_id", Label: "Request"},
	}
}

// provedBy says how the server knew who a caller was.
func provedBy(how string) string {
	switch kind, _, _ := strings.Cut(how, ":"); kind {
	case openAuthentication:
		return "without a login"
	case "key":
		return "with a key"
	case "system":
		return "by the server itself"
	}
	return "with a token"
}

// eventQuery are the filters of the log that are set.
func eventQuery(p *page) url.Values {
	return p.params(namesOf(eventFilters())...)
}

// readLog reads a page of the log, newest first unless the address says otherwise. In the past it ends with the moment.
func readLog(p *page) (any, error) {
	data := &logPage{form: *newForm(p, eventFilters())}
	data.Following = p.param("follow") != "" && p.param("cursor") == "" && !p.Moment.Past()
	query := p.Moment.newestEvents(50)
	ascending := p.param("order") == "asc"
	if ascending {
		query.Set("order", "asc")
		query.Del("after")
	}
	maps.Copy(query, eventQuery(p))
	maps.Copy(query, p.params("cursor"))
	var err error
	if data.Events, data.Next, err = pageOf[api.Event](p, query, "v1", "events"); err != nil {
		data.Following = data.Following && !isRefused(err)
		if refused, is := errors.AsType[*client.Error](err); is {
			for i, bad := range refused.Errors {
				if bad.Field == "name" { // the API lists the names, which nobody reads
					refused.Errors[i].Message = "says nothing that happens"
				}
			}
		}
		return nil, data.failed(p, err, "log", data)
	}
	if data.Counts, err = countShown(p); err != nil {
		return nil, err
	}
	if p.Moment.Past() && ascending {
		for i, event := range data.Events {
			if event.Position > p.Moment.Position {
				data.Events, data.Next = data.Events[:i], ""
				break
			}
		}
	}
	return data, nil
}

// folded groups events in their order. Those that the server did by itself, one after another, are one group, unless
// there are no others.
func folded(all []api.Event) (groups [][]api.Event) {
	folds := slices.ContainsFunc(all, func(e api.Event) bool { return !isOfServer(e) })
	for i, event := range all {
		if last := len(groups) - 1; folds && i > 0 && isOfServer(event) && isOfServer(all[i-1]) {
			groups[last] = append(groups[last], event)
		} else {
			groups = append(groups, []api.Event{event})
		}
	}
	return groups
}

// namesOf are the names of fields.
func namesOf(fields []field) (names []string) {
	for _, field := range fields {
		names = append(names, field.Name)
	}
	return names
}

// countShown counts the events of the log that pass the filters, up to the moment. Its bars narrow the page to their
// part of the time. Words are not counted.
func countShown(p *page) (*bars, error) {
	query := eventQuery(p)
	if query.Has("q") {
		return nil, nil
	}
	if at := p.Moment.RecordedAt; p.Moment.Past() && at != nil && !query.Has("to") {
		query.Set("to", at.Add(time.Microsecond).Format(time.RFC3339Nano))
	}
	b, err := countEvents(p, query)
	if b == nil {
		return nil, err
	}
	for i, one := range b.Bars {
		b.Bars[i].Address = p.With(
			"from", one.From.Format(time.RFC3339Nano), "to", one.To.Format(time.RFC3339Nano), "follow", "")
	}
	return b, nil
}

// Export is the address of the same list, of events or of knowledge, as a file.
func (p *page) Export(format string) string {
	of := ""
	if p.Here("knowledge") {
		of = "knowledge"
	}
	return Root + "export" + encode(p.Query, "format", format, "list", of, "follow", "", "id", "")
}

// export sends the whole list of a page as a file.
func (c *Console) export(w http.ResponseWriter, r *http.Request) {
	p := c.page(w, r)
	query, path, of, err := eventQuery(p), "events", p.param("list"), error(nil)
	if of == "knowledge" {
		p.Moment.AsOf = p.param("as_of")
		query, path = listQuery(p, true), of
	}
	switch format := p.param("format"); {
	case of != "" && of != "knowledge":
		err = unknownExport("There is no such list")
	case format == "csv":
		err = download(p, "text/csv", path+".csv", query, "v1", path)
	case format == "" || format == "ndjson":
		err = download(p, "application/x-ndjson", path+".ndjson", query, "v1", path)
	default:
		err = unknownExport("There is no such format: choose ndjson or csv")
	}
	if err != nil {
		p.fail(problemOf(err))
	}
}

func unknownExport(title string) error {
	return &client.Error{Problem: api.Problem{Status: http.StatusUnprocessableEntity, Title: title}}
}

// download sends a whole list of the API as a file.
func download(p *page, kind, name string, query url.Values, path ...string) error {
	list, err := p.api.Open(p.r.Context(), client.Request{
		Method: http.MethodGet, Path: path, Query: query, Header: http.Header{"Accept": {kind}},
	})
	if err != nil {
		return err
	}
	defer list.Close() //nolint:errcheck // it has been read
	p.w.Header().Set("Content-Type", kind)
	p.w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	if _, err := io.Copy(p.w, list); err != nil {
		panic(http.ErrAbortHandler) // the browser must not take a part for the whole
	}
	return nil
}

// eventPage is one event with what led to it and what followed from it.
type eventPage struct {
	Event   api.Event
	Data    string // indented JSON
	Text    string
	Effects []api.Event
	Next    string     // the cursor of more effects
	Trace   string     // the address of its trace; empty if it has none
	Cause   *api.Cause // the event that caused it; nil if none that the caller may see
}

// eventID is the id of the event at a position. Any other text, and the position of no event, it returns unchanged.
func eventID(p *page, named string) (string, error) {
	position, err := strconv.ParseInt(named, 10, 64)
	if err != nil || position < 1 {
		return named, nil
	}
	query := url.Values{"after": {strconv.FormatInt(position-1, 10)}, "limit": {"1"}}
	found, _, err := pageOf[api.Event](p, query, "v1", "events")
	if err != nil {
		return "", err
	}
	if len(found) > 0 && found[0].Position == position {
		return found[0].EventID, nil
	}
	return named, nil
}

// readEvent reads an event by its id or its position.
func readEvent(p *page) (any, error) {
	var data eventPage
	id, err := eventID(p, p.r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	if err := p.get(&data.Event, nil, "v1", "events", id); err != nil {
		return nil, err
	}
	e := data.Event
	data.Data, data.Text, data.Trace = indented(e.Data), indented(e.Text), e.TraceAt(p.console.cfg.TraceURL)
	data.Effects, data.Next, err = pageOf[api.Event](p, url.Values{"limit": {"50"}}, "v1", "events", e.EventID, "effects")
	if err != nil {
		return nil, err
	}
	if len(e.CausedBy) > 0 && e.CausedBy[0].Name != "" { // else the caller may not see it, or it is a word
		data.Cause = &e.CausedBy[0]
	}
	return data, nil
}

func indented(raw json.RawMessage) string {
	var out bytes.Buffer
	if json.Indent(&out, raw, "", "  ") != nil { // there is none
		return string(raw)
	}
	return out.String()
}

// dataPath matches the parts of the API that scripts of the console read.
var dataPath = regexp.MustCompile(`^v1/(search|directory|log/(key|checkpoint|consistency|proof/[0-9A-Za-z-]+|export))$`)

// oneEvent tells whether an export is of one event. Larger ones do not fit into a page.
func oneEvent(query url.Values) bool {
	after, err := strconv.ParseInt(query.Get("after"), 10, 64)
	return err == nil && query.Get("through") == strconv.FormatInt(after+1, 10)
}

// data lets a script of the console read the API with the reader's session.
func (c *Console) data(w http.ResponseWriter, r *http.Request) {
	p := c.page(w, r)
	path := r.PathValue("path")
	if !dataPath.MatchString(path) || path == "v1/log/export" && !oneEvent(p.Query) {
		http.NotFound(w, r)
		return
	}
	request := client.Request{Method: http.MethodGet, Path: strings.Split(path, "/"), Query: p.Query}
	if path == "v1/search" { // whose question is a body
		p.Moment.AsOf = p.param("as_of")
		body, err := searchRequest(p)
		if err != nil {
			p.fail(problemOf(err))
			return
		}
		request.Method, request.Query, request.Body = http.MethodPost, nil, body
	}
	answer, err := p.api.Do(p.r.Context(), request, nil)
	if answer == nil {
		p.fail(problemOf(err))
		return
	}
	w.Header().Set("Content-Type", answer.Header.Get("Content-Type"))
	w.WriteHeader(answer.Status)
	_, _ = w.Write(answer.Body) // the browser may have left
}

// proofPage is the page on which the browser verifies proofs. The server only names the event.
type proofPage struct {
	Event    string   // its id; empty for none, or none that the caller may see
	Commands []string // that verify the same without this page
}

// idPattern matches what the API accepts as an event's id.
var idPattern = regexp.MustCompile(`^[0-9A-Fa-f-]{36}$`)

// readProof is the page of proofs. The script of the page asks the API.
func readProof(p *page) (any, error) {
	var data proofPage
	id, err := eventID(p, p.param("event"))
	if err != nil {
		return nil, err
	}
	if !idPattern.MatchString(id) {
		id = "EVENT_ID"
	} else {
		data.Event = id
		p.note(client.Get("v1", "log", "proof", id))
	}
	data.Commands = []string{
		"annals proof event " + id + " --json > proof.json",
		"annals verify proof.json --key KEY",
		"annals proof consistency checkpoint.txt --key KEY",
	}
	p.note(client.Get("v1", "log", "checkpoint"))
	p.note(client.Request{
		Method: http.MethodGet, Path: []string{"v1", "log", "consistency"}, Query: url.Values{"from": {"SIZE"}},
	})
	return data, nil
}
