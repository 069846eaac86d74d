package console

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// mostChosen limits the items that a page acts on. Each is read by itself.
const mostChosen = 100

// many is the form of an act on many items, or its outcome.
type many struct {
	*form
	Items    []chosen
	Missing  []string // ids of items that the reader may not see, or that are gone
	Acts     []plannedAct
	Chosen   string
	Outcomes bool // the act has happened
	Done     int
	Again    string // the address of the form for the items that failed
}

// chosen is an item, and what an act did to it.
type chosen struct {
	api.Knowledge
	Outcome string // recorded, revised, unchanged or error; empty if the act does not fit
	Error   *api.Problem
}

// plannedAct is an act, and how many of the items it fits.
type plannedAct struct {
	act
	Fits int
}

// manyActs are the acts that can happen to many items at once, those of the API.
func manyActs() []act {
	many := []string{"helpful", "harmful", "stale", "confirm", "supersede", "forget", "restore"}
	return slices.DeleteFunc(allActs(), func(a act) bool { return !slices.Contains(many, a.Name) })
}

// manyFields are the fields of all acts on many items. An act takes those that it has by itself.
func manyFields() []field {
	return []field{
		reasonField(),
		{Name: "days", Label: "Holds for", Values: []string{"90", "30", "365"}},
		{Name: "by", Label: "Id of the other item"},
	}
}

// askMany shows what would happen to the chosen items.
func askMany(p *page) (any, error) {
	if p.Moment.Past() {
		return nil, errPast
	}
	if !p.MayWrite() {
		return nil, notFound(p)
	}
	ids := p.values("id")
	if p.r.Method == http.MethodPost {
		ids = p.r.PostForm["id"]
	}
	data := &many{form: newForm(p, manyFields()), Chosen: p.r.PostFormValue("act")}
	for _, id := range ids[:min(len(ids), mostChosen)] {
		var k api.Knowledge
		if _, err := p.api.Do(p.r.Context(), client.Get("v1", "knowledge", id), &k); err != nil {
			data.Missing = append(data.Missing, id)
			continue
		}
		data.Items = append(data.Items, chosen{Knowledge: k})
	}
	for _, a := range manyActs() {
		planned := plannedAct{act: a}
		for _, k := range data.Items {
			if a.fits(p, stateOf(p, k.Knowledge)) {
				planned.Fits++
			}
		}
		if planned.Fits > 0 {
			data.Acts = append(data.Acts, planned)
		}
	}
	return data, nil
}

// doMany does an act to all chosen items that it fits, as the reader saw them, and shows each outcome.
func doMany(p *page) (any, error) {
	if err := p.r.ParseForm(); err != nil {
		return nil, err
	}
	form, err := askMany(p)
	if err != nil {
		return nil, err
	}
	data := form.(*many)
	i := slices.IndexFunc(data.Acts, func(a plannedAct) bool { return a.Name == data.Chosen })
	if i < 0 {
		data.Refused = &problem{Status: http.StatusUnprocessableEntity, Title: "Choose what to do."}
		return nil, answer(p, "many", data, data.Refused.Status)
	}
	var acts []api.Act
	var places []int
	for at, k := range data.Items {
		if data.Acts[i].fits(p, stateOf(p, k.Knowledge)) {
			acts, places = append(acts, data.actOn(p, k)), append(places, at)
		}
	}
	request := client.Request{
		Method: http.MethodPost, Path: []string{"v1", "knowledge", "acts"}, Body: acts,
		Header: http.Header{"Accept": {"application/x-ndjson"}},
	}
	p.note(request)
	got, err := p.write(request, nil)
	if err != nil {
		return nil, err
	}
	lines := json.NewDecoder(bytes.NewReader(got.Body))
	again := url.Values{}
	for _, at := range places {
		var outcome api.BulkAnswer
		if err := lines.Decode(&outcome); err != nil {
			return nil, err
		}
		data.Items[at].Outcome, data.Items[at].Error = outcome.Status, outcome.Error
		if data.Done++; outcome.Error != nil {
			data.Done--
			again.Add("id", data.Items[at].ID)
		}
	}
	if data.Outcomes = true; len(again) > 0 {
		data.Again = "?" + again.Encode()
	}
	return data, nil
}

// actOn is the chosen act on an item, at the revision that the reader saw.
func (m *many) actOn(p *page, k chosen) api.Act {
	one := api.Act{ID: k.ID, Act: m.Chosen, IfMatch: k.Revision}
	if at := slices.Index(p.r.PostForm["id"], k.ID); at < len(p.r.PostForm["revision"]) {
		if seen, err := strconv.ParseInt(p.r.PostForm["revision"][at], 10, 64); err == nil {
			one.IfMatch = seen
		}
	}
	switch m.Chosen {
	case "helpful", "harmful":
		one.Outcome = m.text("reason")
		return one
	case "confirm":
		if days, err := strconv.Atoi(m.text("days")); err == nil && days > 0 {
			until := inDays(p, days)
			one.Until = &until
		}
	case "supersede":
		one.By = m.text("by")
	}
	one.Reason = m.text("reason")
	return one
}
