package console

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// privacy is what was erased, and what is redacted.
type privacy struct {
	Status    *api.Erasures // nil if the caller may not see it
	Orders    []api.Erasure // the newest
	Holds     []api.Event   // the newest
	Scrubbing api.Scrubbing
	Findings  *api.Findings // nil if nobody asked
}

const newestOrders = 10

// showPrivacy shows the newest orders and the rules for scrubbing, and with ?findings what those find in the log.
func showPrivacy(p *page) (any, error) {
	data := &privacy{}
	var status api.Erasures
	err := p.get(&status, nil, "v1", "erasures")
	if errors.Is(err, client.ErrForbidden) {
		return data, nil
	}
	if err != nil {
		return nil, err
	}
	data.Status = &status
	query := p.Moment.newestEvents(newestOrders)
	query.Set("name", "erasure.ordered")
	ordered, _, err := pageOf[api.Event](p, query, "v1", "events")
	for _, event := range ordered {
		_, id, _ := strings.Cut(event.Stream, ":")
		var one api.Erasure
		if err == nil {
			err = p.get(&one, nil, "v1", "erasures", id)
		}
		data.Orders = append(data.Orders, one)
	}
	query["name"] = []string{"knowledge.held", "knowledge.released"}
	holds, _, failed := pageOf[api.Event](p, query, "v1", "events")
	data.Holds, err = holds, errors.Join(err, failed, p.get(&data.Scrubbing, nil, "v1", "scrubbing"))
	if err == nil && p.param("findings") != "" {
		data.Findings = &api.Findings{}
		err = p.get(data.Findings, url.Values{"cursor": p.Query["cursor"]}, "v1", "scrubbing", "findings")
	}
	return data, err
}

// erasurePlan is what an order would erase, and the form of the order.
type erasurePlan struct {
	form
	Of      string
	Lineage bool
	Shared  bool             // what is meant for groups passes to them
	Access  bool             // keys and memberships stay
	Plan    *api.ErasurePlan // nil if nothing is named
}

// Goes is the number of items that the order would erase.
func (e *erasurePlan) Goes() (n int) {
	for _, item := range e.Plan.Items {
		if item.Goes {
			n++
		}
	}
	return n
}

func orderFields() []field {
	return []field{
		{Name: "typed", Label: "Type what is erased once more", Required: true},
		{Name: "reason_code", Label: "Reason, a word such as gdpr-17"},
		{Name: "legal_basis", Label: "Legal basis"},
		{Name: "requested_by", Label: "Requested by, a pseudonym"},
		{Name: "ticket", Label: "Ticket"},
	}
}

// planErasure shows what an order would erase.
func planErasure(p *page) (any, error) {
	data := &erasurePlan{
		form: *newForm(p, orderFields()), Of: strings.TrimSpace(p.r.FormValue("of")),
		Lineage: p.r.FormValue("with_lineage") != "", Shared: p.r.FormValue("keep_shared") != "",
		Access: p.r.FormValue("keep_access") != "",
	}
	if data.Of == "" {
		return data, nil
	}
	query := url.Values{
		"of": {data.Of}, "with_lineage": {strconv.FormatBool(data.Lineage)},
		"keep_shared": {strconv.FormatBool(data.Shared)},
	}
	var plan api.ErasurePlan
	err := p.get(&plan, query, "v1", "erasures", "plan")
	if err := data.failed(p, err, "plan", data); err != nil {
		return nil, err
	}
	data.Plan = &plan
	return data, nil
}

// planItem leads to the plan that erases an item.
func planItem(p *page) (any, error) {
	plan := p.To("privacy/plan", "of", p.r.PathValue("id"), "with_lineage", p.param("lineage"))
	http.Redirect(p.w, p.r, plan, http.StatusSeeOther)
	return nil, errAnswered
}

// orderErasure orders what the form planned, if its subject was typed once more.
func orderErasure(p *page) (any, error) {
	found, err := planErasure(p)
	if err != nil {
		return nil, err
	}
	data, ok := found.(*erasurePlan)
	if !ok || data.Plan == nil {
		return found, nil
	}
	if data.text("typed") != data.Of {
		data.Wrong["typed"] = []string{say(p.Language, "It must be %s.", data.Of)}
		return nil, answer(p, "plan", data, http.StatusUnprocessableEntity)
	}
	var done api.Erasure
	_, err = p.write(client.Post(api.ErasureOrder{
		Of: data.Of, WithLineage: data.Lineage, KeepShared: data.Shared, KeepAccess: data.Access,
		ReasonCode: data.text("reason_code"), LegalBasis: data.text("legal_basis"),
		RequestedBy: data.text("requested_by"), Ticket: data.text("ticket"),
	}, "v1", "erasures"), &done)
	if err := data.failed(p, err, "plan", data); err != nil {
		return nil, err
	}
	return goBack(p, "erasure", "privacy/"+url.PathEscape(done.ID))
}

// certificate is an order, how far it has come, and the events that prove it.
type certificate struct {
	api.Erasure
	Events []api.Event
}

// showErasure shows an order.
func showErasure(p *page) (any, error) {
	var data certificate
	id := p.r.PathValue("id")
	if err := p.get(&data.Erasure, nil, "v1", "erasures", id); err != nil {
		return nil, err
	}
	query := url.Values{"stream": {domain.ErasureStreams.Of(id)}, "order": {"desc"}}
	events, _, err := pageOf[api.Event](p, query, "v1", "events")
	data.Events = slices.DeleteFunc(events, func(e api.Event) bool { return !strings.HasPrefix(e.Name, "erasure.") })
	return &data, err
}

// downloadErasure sends an order as a file.
func downloadErasure(p *page) (any, error) {
	id := p.r.PathValue("id")
	if err := download(p, "application/json", "erasure-"+id+".json", nil, "v1", "erasures", id); err != nil {
		return nil, err
	}
	return nil, errAnswered
}
