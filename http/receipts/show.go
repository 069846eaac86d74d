package receipts

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/projections/receipts"
)

type showInput struct {
	ID    string        `path:"id" example:"r3-1042" doc:"The receipt's id: of Annals-Receipt, or of an answer."`
	Today serve.Boolean `query:"today" doc:"Also what the same caller would be given now. For the caller, auditors and admins."`
}

func (s room) show(ctx context.Context, c *serve.Call, in *showInput) (*serve.Output[api.ReceiptShown], error) {
	today := in.Today.Read(&c.Found, "today")
	if err := c.Found.Err(); err != nil {
		return nil, err
	}
	replayed, err := s.Receipts.Show(ctx, c.Principal, in.ID)
	if err != nil {
		return nil, err
	}
	all, err := s.items(ctx, c, replayed.Receipt)
	if err != nil {
		return nil, err
	}
	out := shownOf(replayed, all)
	if err := s.prove(ctx, replayed.Receipt, &out); err != nil {
		return nil, err
	}
	if today != nil && *today {
		out.Today, err = s.today(ctx, c, replayed, all)
	}
	return &serve.Output[api.ReceiptShown]{Body: out}, err
}

func shownOf(of receipts.Replayed, all items) api.ReceiptShown {
	out := api.ReceiptShown{
		Receipt: all.receiptOf(of.Receipt), Digest: hex.EncodeToString(of.Answer[:]), Faults: shownFaults(of),
		Same: len(of.Faults) == 0, Answer: of.Canonical(), Given: serve.Map(of.Given, givenOf),
	}
	if request, is := requestOf(of.Receipt); is {
		out.Request = request
	}
	return out
}

// prove adds the proof that a receipt was sealed; that it is not as it was sealed is a fault.
func (s room) prove(ctx context.Context, of receipts.Receipt, to *api.ReceiptShown) error {
	if of.Sealed == 0 {
		return nil
	}
	tree, err := s.Receipts.Tree(ctx, of)
	var proof receipts.Proof
	if err == nil {
		proof, err = tree.Prove(of)
	}
	switch {
	case errors.Is(err, receipts.ErrUnproven), errors.Is(err, domain.ErrNotFound):
		to.Same, to.Faults = false, append(to.Faults, err.Error())
		return nil
	case err != nil:
		return err
	}
	to.Proof = new(proofOf(of, proof))
	return nil
}

func proofOf(of receipts.Receipt, p receipts.Proof) api.ReceiptProof {
	return api.ReceiptProof{
		Record: string(of.Canonical()), Leaf: p.Leaf.String(), First: p.Seal.First, Last: p.Seal.Last, Count: p.Seal.Count,
		Index: p.Index, Path: serve.Map(p.Path, tlog.Hash.String), Root: base64.StdEncoding.EncodeToString(p.Seal.Root),
		EventID: p.Event.EventID, Position: p.Event.Position,
	}
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
		return api.ReceiptGiven{State: "hidden"}
	case item.Fault != "":
		out.State = "changed"
	case item.Erased:
		out.State = "erased"
	case item.Certificate != "":
		out.State = "redacted"
	}
	if k := item.Knowledge; k != nil {
		words := *k // without the names of others, which the reader may not be allowed to see
		words.Relations, words.DerivedFrom, words.SupersededBy, words.DisputedBy = nil, nil, "", nil
		out.Knowledge = serve.KnowledgeOf(&words)
	}
	return out
}

// The routes whose whole requests are kept.
const (
	searchRoute  = "POST /v1/search"
	contextRoute = "POST /v1/context"
)

// requestOf is the request of a search or a briefing, if it was kept and not erased.
func requestOf(r receipts.Receipt) (request json.RawMessage, is bool) {
	request = json.RawMessage(r.Question.Text)
	return request, (r.Route == searchRoute || r.Route == contextRoute) && json.Valid(request)
}

// questionOf is what a caller asked, in its own words.
func questionOf(r receipts.Receipt) string {
	request, is := requestOf(r)
	if !is {
		return r.Question.Text
	}
	var in struct {
		Query  string   `json:"query"`
		Task   string   `json:"task"`
		Goal   string   `json:"goal"`
		Issues []string `json:"tool_issues"`
	}
	_ = json.Unmarshal(request, &in) // a request that was read before
	words := append([]string{in.Task, in.Goal, in.Query}, in.Issues...)
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), "\n")
}
