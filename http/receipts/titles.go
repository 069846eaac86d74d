package receipts

import (
	"context"
	"maps"
	"slices"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/projections/receipts"
)

// items are the items of receipts as they are now, and who reads them.
type items struct {
	by  domain.Principal
	ids map[int64]string
	all map[string]*domain.Knowledge
}

// items reads the items of receipts, for their titles.
func (s room) items(ctx context.Context, c *serve.Call, of ...receipts.Receipt) (i items, err error) {
	i.by = c.Principal
	var numbers []int64
	for _, receipt := range of {
		for _, item := range receipt.Items {
			numbers = append(numbers, item.Number)
		}
	}
	slices.Sort(numbers)
	if i.ids, err = s.Receipts.IDs(ctx, i.by.Tenant, slices.Compact(numbers)...); err != nil {
		return i, err
	}
	i.all, err = s.visible.Items.Reader.Items(ctx, i.by.Tenant, slices.Collect(maps.Values(i.ids)))
	return i, err
}

// sees tells whether the reader may see an item, and whether it is there.
func (i items) sees(id string) bool { return i.all[id] != nil && i.by.MaySee(i.all[id]) }

func (i items) receiptOf(of receipts.Receipt) api.Receipt {
	return api.Receipt{
		ID: of.ID(), At: of.At, Kind: string(of.Kind), Status: of.Status, Caller: string(of.Caller),
		OnBehalfOf: string(of.OnBehalfOf), Authentication: of.Authentication, Host: of.Host, Session: of.Session,
		TraceID: of.Trace, Route: of.Route, Position: of.Position, AsOf: of.AsOf, Embedder: of.Embedder,
		Ranking: of.Ranking, Sealed: of.Sealed, Items: serve.Map(of.Items, i.itemOf), Question: questionOf(of),
		QuestionErased: of.IsWholeFor(i.by) && of.Question.Salt == nil && of.Question.Digest != (receipts.Digest{}),
	}
}

func (i items) itemOf(of receipts.Item) api.ReceiptItem {
	id := i.ids[of.Number]
	if !i.sees(id) {
		return api.ReceiptItem{Version: of.Version, Level: int(of.Level), Cut: of.Cut, Hidden: true}
	}
	return api.ReceiptItem{
		ID: id, Title: domain.TitleOf(i.all[id]), Version: of.Version, Score: of.Score, Band: string(of.Band),
		Scope: string(of.Scope), Level: int(of.Level), Cut: of.Cut, Parts: api.ReceiptParts{
			Semantic: of.Semantic, Model: of.Model, Lexical: of.Lexical, Confidence: of.Confidence,
		},
	}
}
