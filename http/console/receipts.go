package console

import (
	"strings"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
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
	data := &receiptsPage{Kind: p.param("kind"), Item: p.param("item")}
	names := []string{"kind"}
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
	if len(query) > 0 && (p.Administers() || p.Caller.Role == "auditor") {
		data.Evidence = Root + "receipts/evidence?" + query.Encode()
	}
	list := p.params(append(names, "cursor")...)
	list.Set("limit", "50")
	var err error
	data.Receipts, data.Next, err = pageOf[api.Receipt](p, list, "v1", "receipts")
	if isRefused(err) {
		data.Refused = p.keep(problemOf(err))
		return nil, answer(p, "receipts", data, data.Refused.Status)
	}
	return data, err
}

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
	return route
}

// receiptPage is an answer as it was given.
type receiptPage struct {
	api.ReceiptShown

	Rows     []receiptRow
	Path     string // the way to the root, for the script
	Commands []string
}

// receiptRow is an item of the answer, and what it was.
type receiptRow struct {
	api.ReceiptItem
	api.ReceiptGiven
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
	for i, item := range data.Items {
		data.Rows = append(data.Rows, receiptRow{item, data.Given[i]})
	}
	if data.Proof != nil {
		data.Path = strings.Join(data.Proof.Path, " ")
		p.note(client.Get("v1", "log", "proof", data.Proof.EventID))
	}
	return data, nil
}

// exportEvidence downloads the evidence of the receipts of a list.
func exportEvidence(p *page) (any, error) {
	if err := download(p, "application/zip", "evidence.zip", p.Query, "v1", "receipts", "evidence"); err != nil {
		return nil, err
	}
	return nil, errAnswered
}
