package knowledge

import (
	"encoding/json"
	"fmt"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
)

// Knowledge is a piece of knowledge as the commands show it.
type Knowledge struct{ api.Knowledge }

// votes are those of others than the author, whose own an item begins with.
func (k Knowledge) votes() string {
	r := k.Rating()
	return fmt.Sprintf("%d helpful, %d harmful", r.Others(), r.Harmful)
}

func (k Knowledge) Rating() (r domain.Rating) {
	if k.Eval != nil {
		r.Helpful, r.Harmful, r.Confidence = terminal.OrZero(k.Eval.Helpful), terminal.OrZero(k.Eval.Harmful), terminal.OrZero(k.Eval.Confidence)
	}
	if k.Stale != nil {
		r.Reporters = k.Stale.Reporters
	}
	return r
}

// knowledgeOf reads the item that a write answers with, if it does.
func knowledgeOf(a *client.Response) (Knowledge, bool) {
	var k Knowledge
	return k, json.Unmarshal(a.Body, &k) == nil && k.ID != ""
}
