package receipts

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/projections/receipts"
)

type showInput struct {
	ID    string        `path:"id" example:"r3-1042" doc:"The receipt's id: of Annals-Receipt, or of an answer."`
	Today serve.Boolean `query:"today" doc:"Also what the same caller would be given now. For the caller, auditors and admins."`
}

// find is a receipt that the caller may see.
func (s room) find(ctx context.Context, c *serve.Call, id string) (receipts.Receipt, reader, error) {
	found, err := s.Receipts.Find(ctx, c.Principal.Tenant, id)
	if err != nil {
		return found, reader{}, err
	}
	r, err := s.reader(ctx, c, found)
	if err == nil && !r.reads(&found) {
		err = domain.Refuse(domain.ErrNotFound, "no receipt with id %s", id) // as if there were none
	}
	return found, r, err
}

func (s room) show(ctx context.Context, c *serve.Call, in *showInput) (out api.ReceiptShown, err error) {
	found, r, err := s.find(ctx, c, in.ID)
	if err != nil {
		return out, err
	}
	return s.shown(ctx, found, r)
}

// shown is a receipt with its answer, as far as a reader may see it.
func (s room) shown(ctx context.Context, found receipts.Receipt, r reader) (out api.ReceiptShown, err error) {
	replayed, err := s.Receipts.Replay(ctx, found)
	if err != nil {
		return out, err
	}
	replayed.Hide(func(id string) bool { return r.sees(&found, id) })
	out = api.ReceiptShown{
		Receipt: r.receiptOf(found), Digest: hex.EncodeToString(found.Answer[:]), Faults: shownFaults(replayed),
		Same: len(replayed.Faults) == 0, Answer: replayed.Canonical(), Given: serve.Map(replayed.Given, givenOf),
	}
	return out, nil
}

// shownFaults leaves out the faults of hidden items.
func shownFaults(of receipts.Replayed) []string {
	return slices.DeleteFunc(slices.Clone(of.Faults), func(fault string) bool {
		for i, item := range of.Given {
			if item.Hidden && strings.HasPrefix(fault, fmt.Sprintf("item %d, ", i+1)) {
				return true
			}
		}
		return false
	})
}

func givenOf(item receipts.GivenItem) api.ReceiptGiven {
	out := api.ReceiptGiven{State: "unchanged", Certificate: item.Certificate, Fault: item.Fault}
	switch {
	case item.Hidden:
		out.State = "hidden"
	case item.Fault != "":
		out.State = "changed"
	case item.Erased:
		out.State = "erased"
	case item.Certificate != "":
		out.State = "redacted"
	}
	if k := item.Knowledge; k != nil {
		out.Knowledge = serve.KnowledgeOf(wordsOf(k))
	}
	return out
}

// wordsOf is an item without what names others, which the reader may not be allowed to see.
func wordsOf(k *domain.Knowledge) *domain.Knowledge {
	words := *k
	words.Relations, words.DerivedFrom, words.SupersededBy, words.DisputedBy = nil, nil, "", nil
	return &words
}
