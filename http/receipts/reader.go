package receipts

import (
	"context"
	"slices"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/projections/receipts"
)

// reader is a caller who reads receipts, with the items of these as they are now.
type reader struct {
	by       domain.Principal
	policies domain.Verification
	ids      map[int64]string
	items    map[string]*domain.Knowledge
}

func (s room) reader(ctx context.Context, c *serve.Call, all ...receipts.Receipt) (r reader, err error) {
	r.by = c.Principal
	if s.events.Items.Policies != nil && !r.by.SeesAll() {
		if r.policies, err = s.events.Items.Policies.Policies(ctx, r.by.Tenant); err != nil {
			return r, err
		}
	}
	var numbers []int64
	for _, one := range all {
		for _, item := range one.Items {
			numbers = append(numbers, item.Number)
		}
	}
	slices.Sort(numbers)
	if r.ids, err = s.Receipts.IDs(ctx, r.by.Tenant, slices.Compact(numbers)); err != nil {
		return r, err
	}
	ids := make([]string, 0, len(r.ids))
	for _, id := range r.ids {
		ids = append(ids, id)
	}
	r.items, err = s.events.Items.Reader.Items(ctx, r.by.Tenant, ids)
	return r, err
}

// owns tells whether a receipt is of the caller, or of an answer on its behalf.
func (r reader) owns(receipt *receipts.Receipt) bool {
	me := r.by.EffectiveSubject()
	return r.by.SeesAll() || me != "" && (receipt.Caller == me || receipt.OnBehalfOf == me)
}

func (r reader) stewards(k *domain.Knowledge) bool {
	return r.by.MaySee(k) && r.by.MaySteward(k, r.policies)
}

// sees tells whether the caller may see an item of a receipt. Of receipts of others, these are the items of which it is
// a steward.
func (r reader) sees(receipt *receipts.Receipt, id string) bool {
	k := r.items[id]
	if k == nil {
		return r.by.SeesAll()
	}
	if r.owns(receipt) {
		return r.by.MaySee(k)
	}
	return r.stewards(k)
}

// reads tells whether the caller may see a receipt.
func (r reader) reads(receipt *receipts.Receipt) bool {
	return r.owns(receipt) || slices.ContainsFunc(receipt.Items, func(item receipts.Item) bool {
		return r.sees(receipt, r.ids[item.Number])
	})
}

func (r reader) receiptOf(of receipts.Receipt) api.Receipt {
	out := api.Receipt{
		ID: of.ID(), At: of.At, Kind: string(of.Kind), Status: of.Status, Caller: string(of.Caller),
		OnBehalfOf: string(of.OnBehalfOf), Authentication: of.Authentication, Host: of.Host, Session: of.Session,
		TraceID: of.Trace, Route: of.Route, Position: of.Position, AsOf: of.AsOf, Embedder: of.Embedder,
		Ranking: of.Ranking, Sealed: of.Sealed,
		Items: serve.Map(of.Items, func(item receipts.Item) api.ReceiptItem { return r.itemOf(&of, item) }),
	}
	if r.owns(&of) {
		out.Question = of.Question.Text
		out.QuestionErased = of.Question.Salt == nil && of.Question.Digest != (receipts.Digest{})
	}
	return out
}

func (r reader) itemOf(receipt *receipts.Receipt, of receipts.Item) api.ReceiptItem {
	out := api.ReceiptItem{
		Version: of.Version, Score: of.Score, Band: string(of.Band), Scope: string(of.Scope), Level: int(of.Level),
		Cut: of.Cut, Parts: api.ReceiptParts{
			Semantic: of.Semantic, Model: of.Model, Lexical: of.Lexical, Confidence: of.Confidence,
		},
	}
	id := r.ids[of.Number]
	if !r.sees(receipt, id) {
		return api.ReceiptItem{Version: of.Version, Cut: of.Cut, Level: out.Level, Hidden: true}
	}
	out.ID = id
	if k := r.items[id]; k != nil {
		out.Title = domain.TitleOf(k)
	}
	return out
}
