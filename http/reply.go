package http

import (
	"strconv"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// reply answers a write: the item afterwards, and what the write did.
type reply struct {
	ETag     string `header:"ETag" doc:"The item's revision; for If-Match."`
	Position string `header:"Annals-Position" doc:"Read at this position of the log or later and you see the outcome."`
	Outcome  string `header:"Annals-Outcome" enum:"created,revised,recorded,unchanged" doc:"What the write did."`
	Events   string `header:"Annals-Events" doc:"Ids of the events it recorded, separated by commas; a vote is taken back by its event's."`
	Replayed string `header:"Idempotent-Replayed" doc:"true if the request had been made before."`
	Body     *knowledge
}

// receipt answers a write that leaves nothing to show.
type receipt struct {
	ETag     string `header:"ETag" doc:"The item's revision."`
	Position string `header:"Annals-Position" doc:"Read at this position of the log or later and you see the outcome."`
	Outcome  string `header:"Annals-Outcome" enum:"revised,unchanged" doc:"What the write did."`
	Events   string `header:"Annals-Events" doc:"Ids of the events it recorded, separated by commas."`
	Replayed string `header:"Idempotent-Replayed" doc:"true if the request had been made before."`
}

func replyOf(r domain.Receipt) *reply {
	done := receiptOf(r)
	return &reply{
		ETag: done.ETag, Position: done.Position, Outcome: done.Outcome, Events: done.Events,
		Replayed: done.Replayed, Body: knowledgeOf(r.Knowledge),
	}
}

func receiptOf(r domain.Receipt) *receipt {
	ids := make([]string, len(r.Events))
	for i, event := range r.Events {
		ids[i] = event.EventID
	}
	replayed := ""
	if r.Replayed {
		replayed = "true"
	}
	return &receipt{
		ETag: etag(r.Knowledge.Revision), Position: strconv.FormatInt(r.Position, 10),
		Outcome: r.Outcome, Events: strings.Join(ids, ","), Replayed: replayed,
	}
}
