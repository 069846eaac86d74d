package http

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/domain"
)

// reply answers a write: the item afterwards, and what the write did.
type reply struct {
	ETag     string `header:"ETag" doc:"The item's revision; for If-Match."`
	Position string `header:"Annals-Position" doc:"Read at this position of the log or later and you see the outcome."`
	Outcome  string `header:"Annals-Outcome" enum:"created,revised,recorded,unchanged" doc:"What the write did."`
	Events   string `header:"Annals-Events" doc:"Ids of the events it recorded, separated by commas; a vote is taken back by its event's."`
	Receipt  string `header:"Annals-Receipt" doc:"What to keep in order to ask for proof: of each event its id, position and hash in hexadecimal, separated by spaces; events by commas."`
	Replayed string `header:"Idempotent-Replayed" doc:"true if the request had been made before."`
	Redacted string `header:"Annals-Redacted" doc:"What was taken out of the texts before they were recorded, such as email=1,phone=2."`
	Body     *api.Knowledge
}

// receipt answers a write that leaves nothing to show.
type receipt struct {
	ETag     string `header:"ETag" doc:"The item's revision."`
	Position string `header:"Annals-Position" doc:"Read at this position of the log or later and you see the outcome."`
	Outcome  string `header:"Annals-Outcome" enum:"revised,unchanged" doc:"What the write did."`
	Events   string `header:"Annals-Events" doc:"Ids of the events it recorded, separated by commas."`
	Receipt  string `header:"Annals-Receipt" doc:"What to keep in order to ask for proof: of each event its id, position and hash in hexadecimal, separated by spaces; events by commas."`
	Replayed string `header:"Idempotent-Replayed" doc:"true if the request had been made before."`
	Redacted string `header:"Annals-Redacted" doc:"What was taken out of the texts before they were recorded, such as email=1,phone=2."`
}

func replyOf(r domain.Receipt) *reply {
	done, body := receiptOf(r), knowledgeOf(r.Knowledge)
	body.Redacted = r.Redacted
	return &reply{
		ETag: done.ETag, Position: done.Position, Outcome: done.Outcome, Events: done.Events,
		Receipt: done.Receipt, Replayed: done.Replayed, Redacted: done.Redacted, Body: body,
	}
}

func receiptOf(r domain.Receipt) *receipt {
	ids, triples := make([]string, len(r.Events)), make([]string, len(r.Events))
	for i, event := range keptOf(r) {
		ids[i] = event.EventID
		triples[i] = event.EventID + " " + strconv.FormatInt(event.Position, 10) + " " + event.Hash
	}
	replayed := ""
	if r.Replayed {
		replayed = "true"
	}
	return &receipt{
		ETag: etag(r.Knowledge.Revision), Position: strconv.FormatInt(r.Position, 10),
		Outcome: r.Outcome, Events: strings.Join(ids, ","),
		Receipt: strings.Join(triples, ","), Replayed: replayed, Redacted: redactedOf(r),
	}
}

// redactedOf is what was redacted, by class, for a header.
func redactedOf(r domain.Receipt) string {
	if len(r.Redacted) == 0 {
		return ""
	}
	classes := make([]string, 0, len(r.Redacted))
	for _, class := range slices.Sorted(maps.Keys(r.Redacted)) {
		classes = append(classes, fmt.Sprintf("%s=%d", class, r.Redacted[class]))
	}
	return strings.Join(classes, ",")
}

func keptOf(r domain.Receipt) []api.KeptVersion {
	all := make([]api.KeptVersion, len(r.Events))
	for i, event := range r.Events {
		all[i] = api.KeptVersion{EventID: event.EventID, Position: event.Position, Hash: hex.EncodeToString(event.Hash)}
	}
	return all
}
