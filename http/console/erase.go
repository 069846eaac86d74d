package console

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// erasing is the page that erases an item: what would go, what would stay, and a form that wants the item's id typed.
type erasing struct {
	form
	ID      string
	Title   string
	Lineage bool // what is related goes, too
	Plan    api.ErasurePlan
	Kept    string // why the item itself stays; empty if it would go
}

func erasureFields() []actField {
	return []actField{
		{Name: "typed", Label: "Type the item's id", Required: true},
		{Name: "reason_code", Label: "Reason, as one word that stays for ever"},
		{Name: "legal_basis", Label: "Legal basis, which stays for ever"},
		{Name: "requested_by", Label: "Who asked for it, as a pseudonym that stays for ever"},
		{Name: "ticket", Label: "Ticket, which stays for ever"},
	}
}

// askErase shows the plan of an erasure.
func askErase(p *page) (any, error) {
	if p.Moment.Past() {
		return nil, errPast
	}
	data := &erasing{
		form: *newForm(p, erasureFields()), ID: p.r.PathValue("id"), Lineage: p.param("lineage") != "",
	}
	data.Title = data.ID
	var k api.Knowledge
	switch err := p.get(&k, nil, "v1", "knowledge", data.ID); {
	case err == nil && k.Task != "":
		data.Title = k.Task
	case err != nil && !errors.Is(err, client.ErrGone):
		return nil, err
	}
	query := url.Values{"of": {data.ID}, "with_lineage": {strconv.FormatBool(data.Lineage)}}
	if err := p.get(&data.Plan, query, "v1", "erasures", "plan"); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(data.Plan.Items, func(t api.ErasureTarget) bool { return t.ID == data.ID })
	switch {
	case i < 0:
		return nil, notFound(p) // it was erased before
	case !data.Plan.Items[i].Goes:
		data.Kept = data.Plan.Items[i].Reason
	}
	return data, nil
}

// doErase erases the item, or orders to erase it with what is related.
func doErase(p *page) (any, error) {
	asked, err := askErase(p)
	if err != nil {
		return nil, err
	}
	data := asked.(*erasing)
	if data.text("typed") != data.ID {
		data.Wrong["typed"] = []string{say(p.Language, "This is not the item's id.")}
		return nil, answer(p, "erase", data, http.StatusUnprocessableEntity)
	}
	var order api.Erasure
	if data.Lineage {
		order, err = data.order(p, api.ErasureOrder{Of: data.ID, WithLineage: true})
	} else {
		query := url.Values{"erase": {"true"}}
		for _, field := range data.Fields[1:] {
			if value := data.text(field.Name); value != "" {
				query.Set(field.Name, value)
			}
		}
		_, err = p.api.Do(p.r.Context(), client.Request{
			Method: http.MethodDelete, Path: []string{"v1", "knowledge", data.ID}, Query: query,
		}, nil)
	}
	if err := data.failed(p, err, "erase", data); err != nil {
		return nil, err
	}
	if data.Lineage {
		return goBack(p, "erasure", "privacy/"+url.PathEscape(order.ID))
	}
	return goBack(p, "erase", "k/"+url.PathEscape(data.ID))
}
