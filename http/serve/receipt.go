package serve

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
)

type ItemInput struct {
	ID string `path:"id" doc:"The item's id."`
}

// Reply answers a write: the item afterwards, and what the write did.
type Reply struct {
	ETag     string `header:"ETag" doc:"The item's revision; for If-Match."`
	Position string `header:"Annals-Position" doc:"Read at this position of the log or later and you see the outcome."`
	Outcome  string `header:"Annals-Outcome" enum:"created,revised,recorded,unchanged" doc:"What the write did."`
	Events   string `header:"Annals-Events" doc:"Ids of the events it recorded, separated by commas; a vote is taken back by its event's."`
	Receipt  string `header:"Annals-Receipt" doc:"What to keep in order to ask for proof: of each event its id, position and hash in hexadecimal, separated by spaces; events by commas."`
	Replayed string `header:"Idempotent-Replayed" doc:"true if the request had been made before."`
	Redacted string `header:"Annals-Redacted" doc:"What was taken out of the texts before they were recorded, such as email=1,phone=2."`
	Body     *api.Knowledge
}

// Written answers a write that is not about an item: with what there is afterwards.
type Written[T any] struct {
	Position string `header:"Annals-Position" doc:"Of the newest event."`
	Outcome  string `header:"Annals-Outcome" enum:"created,recorded,unchanged" doc:"What the write did."`
	Body     T
}

// WrittenOf answers a write with a body.
func WrittenOf[T any](done domain.Receipt, body T, err error) (*Written[T], error) {
	return &Written[T]{strconv.FormatInt(done.Position, 10), done.Outcome, body}, err
}

// Receipt answers a write that has no item to show.
type Receipt struct {
	ETag     string `header:"ETag" doc:"The item's revision."`
	Position string `header:"Annals-Position" doc:"Read at this position of the log or later and you see the outcome."`
	Outcome  string `header:"Annals-Outcome" enum:"revised,unchanged" doc:"What the write did."`
	Events   string `header:"Annals-Events" doc:"Ids of the events it recorded, separated by commas."`
	Receipt  string `header:"Annals-Receipt" doc:"What to keep in order to ask for proof: of each event its id, position and hash in hexadecimal, separated by spaces; events by commas."`
	Replayed string `header:"Idempotent-Replayed" doc:"true if the request had been made before."`
	Redacted string `header:"Annals-Redacted" doc:"What was taken out of the texts before they were recorded, such as email=1,phone=2."`
}

func ReplyOf(r domain.Receipt) *Reply {
	done, body := ReceiptOf(r), KnowledgeOf(r.Knowledge)
	body.Redacted = r.Redacted
	return &Reply{
		ETag: done.ETag, Position: done.Position, Outcome: done.Outcome, Events: done.Events,
		Receipt: done.Receipt, Replayed: done.Replayed, Redacted: done.Redacted, Body: body,
	}
}

func ReceiptOf(r domain.Receipt) *Receipt {
	ids, triples := make([]string, len(r.Events)), make([]string, len(r.Events))
	for i, event := range KeptOf(r) {
		ids[i] = event.EventID
		triples[i] = event.EventID + " " + strconv.FormatInt(event.Position, 10) + " " + event.Hash
	}
	replayed := ""
	if r.Replayed {
		replayed = "true"
	}
	return &Receipt{
		ETag: Etag(r.Knowledge.Revision), Position: strconv.FormatInt(r.Position, 10),
		Outcome: r.Outcome, Events: strings.Join(ids, ","),
		Receipt: strings.Join(triples, ","), Replayed: replayed, Redacted: domain.Redactions(r.Redacted),
	}
}

func KeptOf(r domain.Receipt) []api.KeptVersion {
	return Map(r.Events, func(e domain.Event) api.KeptVersion {
		return api.KeptVersion{EventID: e.EventID, Position: e.Position, Hash: hex.EncodeToString(e.Hash)}
	})
}

// Replied answers a change with the item afterwards.
func Replied(receipt domain.Receipt, err error) (*Reply, error) {
	if err != nil {
		return nil, err
	}
	return ReplyOf(receipt), nil
}
