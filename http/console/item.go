package console

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/serve"
)

// item is the page of an item. Its tabs are history, compare, blame, use and raw.
type item struct {
	ID        string
	Tab       string
	Knowledge *api.Knowledge // nil if it is gone
	Gone      *problem       // why it is gone; nil otherwise
	Erased    bool
	Title     string    // the last one of an item that is gone; empty if the reader may not see it
	Ended     api.Event // by which it went
	Life      *life
	Then      *step // of the past: what happened at the moment, if anything did
	Lineage   *lineage
	Acts      []act  // what the reader can do to it
	Newest    string // the id of its newest event

	NewestFirst bool
	Steps       []step
	Next        string // the cursor of later events than those that were read

	Compared *compared
	Runs     []run
	Raw      string
}

// showItem is the page with one of its tabs.
func showItem(p *page) (any, error) {
	data := &item{ID: p.r.PathValue("id"), Tab: p.r.PathValue("tab"), NewestFirst: p.param("order") != "asc"}
	if data.Tab == "" {
		data.Tab = "history"
	}
	history, err := data.read(p)
	if err != nil {
		return nil, err
	}
	if data.Knowledge == nil {
		data.Tab = "history"
	}
	switch data.Tab {
	case "history":
		data.Steps = timeline(history, data.NewestFirst)
	case "compare":
		data.Compared, err = compare(p, data.ID, history)
	case "blame":
		data.Runs = blame(history)
	case "use", "raw": // it has been read
	default:
		return nil, notFound(p)
	}
	if err != nil || data.Gone == nil {
		return data, err
	}
	return nil, answer(p, "item", data, data.Gone.Status)
}

// read reads the item and its history. A forgotten or erased item has a history alone.
func (d *item) read(p *page) ([]api.Event, error) {
	var raw json.RawMessage
	request := client.Request{Method: http.MethodGet, Path: []string{"v1", "knowledge", d.ID}, Query: p.asOf(nil)}
	p.note(request)
	opened := p.param("receipt") != "" // from the answer that it names
	_, err := p.api.Do(serve.Looking(p.r.Context(), !opened), request, &raw)
	gone := err
	switch {
	case errors.Is(err, client.ErrGone):
		d.Gone = problemOf(err)
	case err != nil:
		return nil, err
	default:
		d.Knowledge = &api.Knowledge{}
		if err := json.Unmarshal(raw, d.Knowledge); err != nil {
			return nil, err
		}
	}
	d.Raw = indented(raw)
	history, next, err := readHistory(p, d.ID, p.param("cursor"))
	if err != nil {
		return nil, err
	}
	d.Life = lifeOf(p, Root+d.TabPath("history"), history)
	history, d.Next = byThen(p, history, next)
	d.Then = then(p, history)
	is := goneState(gone, history)
	if d.Knowledge != nil {
		is = stateOf(p, *d.Knowledge)
	}
	d.Erased = is.Status == "erased"
	newest, err := newestEvent(p, d.ID, history, d.Next)
	if err != nil {
		return nil, err
	}
	d.Newest = newest.EventID
	if d.Gone != nil {
		d.Title, d.Ended = lastTitle(history), newest
		for _, event := range history {
			if d.Next == "" && (event.Name == "knowledge.deleted" || event.Name == "knowledge.erased") {
				d.Ended = event // what came after, such as a legal hold, is no end
			}
		}
	}
	if p.MayWrite() {
		d.Acts = actsFor(p, is)
	}
	if d.Gone == nil && d.Is("history") && !p.Moment.Past() {
		d.Lineage, err = readLineage(p, d.ID)
	}
	return history, err
}

// lastTitle is the title that an item had by its history; empty if its texts were erased.
func lastTitle(history []api.Event) string {
	var k api.Knowledge
	for _, event := range history {
		for _, change := range event.Changes {
			switch after, _ := change.After.(string); change.Field {
			case "task":
				k.Task = after
			case "content":
				k.Content = after
			}
		}
	}
	return cmp.Or(k.Task, shortened(k.Content, 80))
}

// newestEvent is an item's newest event, which is not in the history if more of it follows.
func newestEvent(p *page, id string, history []api.Event, next string) (newest api.Event, err error) {
	if next != "" {
		query := p.Moment.newestEvents(1)
		query.Set("stream", domain.KnowledgeStream(id))
		if history, _, err = pageOf[api.Event](p, query, "v1", "events"); err != nil {
			return newest, err
		}
	}
	if len(history) > 0 {
		newest = history[len(history)-1]
	}
	return newest, nil
}

// Meta is the free object, indented.
func (d *item) Meta() string { return indented(d.Knowledge.Meta) }

// Is tells the tabs which of them is shown.
func (d *item) Is(tab string) bool { return d.Tab == tab }

// Primary tells whether an act is the one that the item most likely needs. The others are folded.
func (d *item) Primary(name string) bool {
	k, needed := d.Knowledge, "revise"
	switch {
	case k == nil:
		needed = "restore"
	case k.ConfirmationExpired || k.Stale != nil && k.Stale.Reporters > 0 || k.Verified != nil && k.Verified.Overdue:
		needed = "confirm"
	}
	return name == needed
}

// TabPath is the path of a tab below [Root].
func (d *item) TabPath(tab string) string {
	path := "k/" + url.PathEscape(d.ID)
	if tab != "history" {
		path += "/" + tab
	}
	return path
}

// MayWrite tells whether the page offers acts: not in the past, and not to auditors.
func (p *page) MayWrite() bool {
	return !p.Moment.Past() && p.Caller != nil && p.Caller.Role != "auditor"
}

const doneCookie = "annals-done"

// Done is what the reader did right before this page. It is told once, and not in the past.
func (p *page) Done() string {
	cookie, err := p.r.Cookie(doneCookie)
	if err != nil || p.Moment.Past() {
		return ""
	}
	p.setDone("")
	for _, one := range slices.Concat(
		containActs(), // part: contain
		allActs(), keyActs(), operations(), resourceActs(), peopleActs(), pairActs(), policyActs(), subscriptionActs(),
		formsDone(),
	) {
		if one.Name == cookie.Value {
			return one.Done
		}
	}
	return ""
}

// formsDone name what forms without an act of their own have done.
func formsDone() []act {
	return []act{
		{Name: "tenant", Done: "The tenant is created."},
		{Name: "accept", Done: "It is accepted. Its readers see it from now on."},
		{Name: "decline", Done: "It is declined."},
		{Name: "remember", Done: "It is remembered."},
		{Name: "proposed", Done: "It is proposed: others see it when a steward of its scope accepts it."},
		{Name: "erasure", Done: "The erasure is ordered."},
		{Name: "extract", Done: "The failed extractions are tried again."},
	}
}

// setDone keeps the name of an act for the next page.
func (p *page) setDone(name string) {
	setCookie(p.w, p.r, http.Cookie{Name: doneCookie, Value: name, Path: Root, MaxAge: 60})
}
