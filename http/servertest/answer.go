package servertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Answer is what the server said.
type Answer struct {
	T      *testing.T
	What   string
	Status int
	Header http.Header
	Body   []byte
}

// Header is a request header, "Name: value".
type Header string

// NDJSON says that a body has an object per line.
const NDJSON Header = "Content-Type: application/x-ndjson"

// Bearer presents a key.
func Bearer(key string) Header { return Header("Authorization: Bearer " + key) }

// For acts on behalf of somebody.
func For(who string) Header { return Header("Annals-On-Behalf-Of: " + who) }

// Object is a JSON object as it came.
type Object = map[string]any

// Item is the least that can be remembered.
func Item(id, content string) Object {
	return Object{"id": id, "type": "strategy", "content": content}
}

// Shared is an item of an owner for those who read some scopes.
func Shared(id, content, owner string, scopes ...string) Object {
	return Object{"id": id, "type": "strategy", "content": content, "owner": owner, "scopes": scopes}
}

// Want fails the test unless the answer has this status.
func (a *Answer) Want(status int) *Answer {
	a.T.Helper()
	if a.Status != status {
		a.T.Fatalf("%s: got %d, want %d\n%.2000s", a.What, a.Status, status, a.Body)
	}
	return a
}

// Into decodes the answer's body.
func (a *Answer) Into(to any) {
	a.T.Helper()
	if err := json.Unmarshal(a.Body, to); err != nil {
		a.T.Fatalf("%s: %v\n%.2000s", a.What, err, a.Body)
	}
}

// JSON is the answer's body.
func (a *Answer) JSON() (o Object) {
	a.T.Helper()
	a.Into(&o)
	return o
}

// Lines are the objects of an answer that has one per line.
func (a *Answer) Lines() (all []Object) {
	a.T.Helper()
	decoder := json.NewDecoder(bytes.NewReader(a.Body))
	for decoder.More() {
		var o Object
		if err := decoder.Decode(&o); err != nil {
			a.T.Fatalf("%s: %v\n%.2000s", a.What, err, a.Body)
		}
		all = append(all, o)
	}
	return all
}

// Errors are the bad fields that a problem names, "field: message".
func (a *Answer) Errors() (all []string) {
	a.T.Helper()
	var p struct {
		Errors []struct{ Field, Message string }
	}
	a.Into(&p)
	for _, e := range p.Errors {
		all = append(all, e.Field+": "+e.Message)
	}
	return all
}

// Fields are the fields that a problem names.
func (a *Answer) Fields() []string {
	a.T.Helper()
	all := a.Errors()
	for i, e := range all {
		all[i], _, _ = strings.Cut(e, ":")
	}
	return all
}

// Items are the objects of a list.
func (a *Answer) Items() []Object {
	a.T.Helper()
	var page struct{ Items []Object }
	a.Into(&page)
	return page.Items
}

// Outcomes are what became of each record of many: its id, its status, and the problem's status.
func (a *Answer) Outcomes() (all []string) {
	a.T.Helper()
	for _, line := range a.Lines() {
		outcome := fmt.Sprint(line["id"], " ", line["status"])
		if status := Pick(line, "error", "status"); status != nil {
			outcome += fmt.Sprint(" ", status)
		}
		all = append(all, outcome)
	}
	return all
}

// Pick takes a value out of nested objects: Pick(o, "eval", "helpful").
func Pick(o Object, path ...string) any {
	var value any = o
	for _, name := range path {
		inner, _ := value.(Object)
		value = inner[name]
	}
	return value
}

// IDs are those of items.
func IDs(items []Object) (all []string) {
	for _, o := range items {
		all = append(all, o["id"].(string))
	}
	return all
}

// Positions are those of events.
func Positions(events []Object) (all []float64) {
	for _, e := range events {
		all = append(all, e["position"].(float64))
	}
	return all
}

// PrefixOf is the part of a key that names it.
func PrefixOf(key string) string { return strings.Split(key, "_")[1] }

// Pages reads a list page by page. The test fails if it has no end.
func (w *World) Pages(path string, headers ...Header) (all []Object) {
	w.T.Helper()
	cursor := ""
	for range 100 {
		page := w.Ask("GET", path+cursor, nil, headers...).Want(http.StatusOK)
		all = append(all, page.Items()...)
		next, more := page.JSON()["next_cursor"].(string)
		if !more {
			return all
		}
		cursor = "&cursor=" + url.QueryEscape(next)
	}
	w.T.Fatalf("%s has no end", path)
	return nil
}

// Race lets 20 clients ask at the same time, and counts their answers by status.
func Race(ask func(client int) []*Answer) map[int]int {
	var mu sync.Mutex
	var racing sync.WaitGroup
	got := map[int]int{}
	for client := range 20 {
		racing.Go(func() {
			answers := ask(client)
			mu.Lock()
			defer mu.Unlock()
			for _, a := range answers {
				got[a.Status]++
			}
		})
	}
	racing.Wait()
	return got
}

// Only fails the test if there are answers of any other status.
func Only(t *testing.T, got map[int]int, statuses ...int) {
	t.Helper()
	for status, n := range got {
		if !slices.Contains(statuses, status) {
			t.Errorf("%d answers have the status %d, want only %v", n, status, statuses)
		}
	}
}

// Logged are the events of a stream, oldest first.
func (w *World) Logged(stream string, headers ...Header) []Object {
	w.T.Helper()
	return w.Ask("GET", "/v1/events?limit=500&stream="+stream, nil, headers...).Want(http.StatusOK).Items()
}

// Names are the names of an item's events.
func (w *World) Names(id string, headers ...Header) (names []string) {
	w.T.Helper()
	for _, event := range w.Ask("GET", "/v1/knowledge/"+id+"/history", nil, headers...).Want(http.StatusOK).Items() {
		names = append(names, strings.TrimPrefix(event["name"].(string), "knowledge."))
	}
	return names
}
