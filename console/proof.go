package console

import (
	"net/http"
	"net/url"
	"regexp"

	"github.com/annals-kb/annals/client"
)

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
