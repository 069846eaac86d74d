package console

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/serve"
)

// receiptsPage is the list of who was told what.
type receiptsPage struct {
	Refused  *problem
	Fields   []receiptField
	More     []receiptField // that are folded
	Open     bool           // one of them is set
	Kind     string
	Item     string
	Receipts []api.Receipt
	Next     string
	Evidence string // the address of evidence for the same filters; empty without filters, or for who may not have it
}

// receiptField is a filter of the list.
type receiptField struct{ Name, Label, Value string }

// listReceipts lists who was told what, the newest first.
func listReceipts(p *page) (any, error) {
	data := &receiptsPage{Kind: cmp.Or(p.param("kind"), "use"), Item: p.param("item")}
	var names []string
	for i, field := range [][2]string{
		{"agent", "Who"},
		{"item", "Item"},
		{"trace_id", "Trace"},
		{"session", "Session"},
		{"host", "Host"},
		{"containment", "Containment"},
		{"since", "From"},
		{"until", "Until"},
	} {
		names = append(names, field[0])
		one := receiptField{field[0], field[1], p.param(field[0])}
		if i < 2 {
			data.Fields = append(data.Fields, one)
		} else {
			data.More, data.Open = append(data.More, one), data.Open || one.Value != ""
		}
	}
	query := p.params(names...)
	narrowed := len(query) > 0
	if data.Kind != everyKind {
		query.Set("kind", data.Kind)
	}
	if narrowed && (p.Administers() || p.Caller.Role == "auditor") {
		data.Evidence = Root + "receipts/evidence?" + query.Encode()
	}
	list := p.params("cursor")
	maps.Copy(list, query)
	list.Set("limit", "50")
	var err error
	data.Receipts, data.Next, err = pageOf[api.Receipt](p, list, "v1", "receipts")
	if isRefused(err) {
		data.Refused = p.keep(problemOf(err))
		return nil, answer(p, "receipts", data, data.Refused.Status)
	}
	return data, err
}

// everyKind is the kind of all receipts in the address of the list, which shows uses by default.
const everyKind = "all"

// Asked says in words what was asked without a question.
func (receiptsPage) Asked(route string) string {
	switch route {
	case "GET /v1/knowledge/:id":
		return "an item by itself"
	case "GET /v1/knowledge":
		return "a list of items"
	case "GET /v1/reviews":
		return "what waits for a review"
	case "GET /v1/events":
		return "events as they happen"
	}
	return "another request"
}

// receiptPage is an answer as it was given.
type receiptPage struct {
	api.ReceiptShown

	Rows     []receiptRow
	Path     string // the way to the root, for the script
	Commands []string
}

// receiptRow is an item of the answer: what it was, and what came of it.
type receiptRow struct {
	api.ReceiptItem
	api.ReceiptGiven

	Current *api.Knowledge // nil if the reader does not see it any more
	Act     string         // by which the reader corrects it, or says that it is wrong; empty if they may do neither
}

// Revisions is how often it was revised since.
func (r receiptRow) Revisions() int64 { return r.Current.Revision - r.Knowledge.Revision }

// Helpful is how many votes since found it helpful.
func (r receiptRow) Helpful() int { return r.votes(func(e *api.Eval) *int { return e.Helpful }) }

// Harmful is how many votes since found it harmful.
func (r receiptRow) Harmful() int { return r.votes(func(e *api.Eval) *int { return e.Harmful }) }

func (r receiptRow) votes(count func(*api.Eval) *int) int {
	if r.Knowledge.Eval == nil || r.Current.Eval == nil || count(r.Knowledge.Eval) == nil || count(r.Current.Eval) == nil {
		return 0
	}
	return max(0, *count(r.Current.Eval)-*count(r.Knowledge.Eval))
}

// Name is the title of now, or that of then if it is erased or hidden now.
func (r receiptRow) Name() any {
	switch {
	case r.Title != "":
		return r.Title
	case r.Knowledge != nil:
		return titleOf(r.Knowledge)
	}
	return ""
}

// showReceipt shows an answer as it was given and, when asked, what it would be today.
func showReceipt(p *page) (any, error) {
	data := &receiptPage{}
	id := p.r.PathValue("id")
	if err := p.get(&data.ReceiptShown, p.params("today"), "v1", "receipts", id); err != nil {
		return nil, err
	}
	current, err := currentItems(p, data.Items)
	if err != nil {
		return nil, err
	}
	for i, item := range data.Items {
		row := receiptRow{ReceiptItem: item, ReceiptGiven: data.Given[i]}
		if k, is := current[item.ID]; is && row.Knowledge != nil {
			row.Current, row.Act = &k, correction(p, k)
		}
		data.Rows = append(data.Rows, row)
	}
	if data.Proof != nil {
		data.Path = strings.Join(data.Proof.Path, " ")
		p.note(client.Get("v1", "log", "proof", data.Proof.EventID))
	}
	return data, nil
}

// currentItems are the items of an answer as they are now, by their ids.
func currentItems(p *page, of []api.ReceiptItem) (map[string]api.Knowledge, error) {
	query := url.Values{"limit": {strconv.Itoa(mostNames)}, "status": serve.Strings(domain.Statuses)}
	for _, item := range of[:min(len(of), mostNames)] {
		if item.ID != "" {
			query.Add("id", item.ID)
		}
	}
	all := map[string]api.Knowledge{}
	if !query.Has("id") {
		return all, nil
	}
	items, _, err := pageOf[api.Knowledge](p, query, "v1", "knowledge")
	for _, k := range items {
		all[k.ID] = k
	}
	return all, err
}

// correction is the act by which the reader corrects an item: a revision, or else a report that it is stale.
func correction(p *page, k api.Knowledge) string {
	if !p.MayWrite() {
		return ""
	}
	acts := actsFor(p, stateOf(p, k))
	for _, name := range []string{"revise", "stale"} {
		if slices.ContainsFunc(acts, func(a act) bool { return a.Name == name }) {
			return name
		}
	}
	return ""
}

// exportEvidence downloads the evidence of the receipts of a list.
func exportEvidence(p *page) (any, error) {
	if err := download(p, "application/zip", "evidence.zip", p.Query, "v1", "receipts", "evidence"); err != nil {
		return nil, err
	}
	return nil, errAnswered
}
