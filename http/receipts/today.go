package receipts

import (
	"context"
	"encoding/json"
	"errors"
	"math"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/briefing"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/projections/receipts"
)

// Reader answers questions about the present.
type Reader interface {
	// Search answers a complete search.
	Search(ctx context.Context, search domain.Search) (domain.Answer, error)
	// List returns the items that its principal may see, newest first.
	List(ctx context.Context, list domain.List) (domain.ListPage, error)
}

// Searcher finds items as they are.
type Searcher interface {
	// SearchAll answers complete searches, in order.
	SearchAll(ctx context.Context, searches []domain.Search) ([]domain.Answer, error)
}

// Browser reads items as they are.
type Browser interface {
	// Live returns, by id, those of some items that are live and visible to a principal.
	Live(ctx context.Context, by domain.Principal, ids []string) (map[string]*domain.Knowledge, error)
}

// today is what the caller of a receipt would be given now, as far as the reader may see it.
func (s room) today(
	ctx context.Context, c *serve.Call, then receipts.Replayed, all items,
) (out *api.ReceiptToday, err error) {
	if !then.IsWholeFor(c.Principal) {
		return nil, domain.Refuse(domain.ErrForbidden, "only its caller, auditors and admins see what it would be today")
	}
	out = &api.ReceiptToday{At: c.Now.UTC()}
	if out.Position, _, err = s.visible.Log.Head(ctx, c.Principal.Tenant); err != nil {
		return nil, err
	}
	var now []domain.GivenItem
	by, err := s.rights(ctx, then.Receipt)
	if err == nil {
		as := *c
		as.Principal = by
		now, err = s.again(ctx, &as, then)
	}
	if refused, is := errors.AsType[*domain.Refusal](err); is {
		out.Refused = refused.Error()
	} else if err != nil {
		return nil, err
	}
	out.Items = compare(then, now, by, all)
	return out, nil
}

// rights are the rights that the caller of a receipt has now.
func (s room) rights(ctx context.Context, of receipts.Receipt) (domain.Principal, error) {
	if of.Caller == "" {
		return domain.Principal{}, domain.Refuse(domain.ErrForbidden, "the caller is not known")
	}
	known := domain.Subscription{Subscriber: of.Caller, Authentication: of.Authentication}
	if of.OnBehalfOf != "" {
		known.Subscriber, known.By = of.OnBehalfOf, of.Caller
	}
	return s.Rights(ctx, of.Tenant, known)
}

// again asks a question once more. What else than a search or a briefing was given is given again as far as it is still
// there. The call has the rights of the caller of then.
func (s room) again(ctx context.Context, c *serve.Call, then receipts.Replayed) ([]domain.GivenItem, error) {
	request, is := requestOf(then.Receipt)
	switch {
	case then.AsOf != 0:
		return nil, domain.Refuse(domain.ErrConflict, "it was asked about the past, which stays as it was")
	case then.Question.Digest != (receipts.Digest{}) && !is:
		return nil, domain.Refuse(domain.ErrErased, "the question is erased, or was not kept as a whole")
	case then.Route == searchRoute && is:
		return s.searchAgain(ctx, c, request)
	case then.Route == contextRoute && is:
		return s.briefAgain(ctx, c, request)
	}
	var ids []string
	for _, item := range then.Given {
		ids = append(ids, item.ID)
	}
	live, err := s.Browser.Live(ctx, c.Principal, ids)
	var now []domain.GivenItem
	for _, id := range ids {
		if k := live[id]; k != nil {
			now = append(now, domain.GivenItem{Item: k})
		}
	}
	return now, err
}

func (s room) searchAgain(ctx context.Context, c *serve.Call, request json.RawMessage) ([]domain.GivenItem, error) {
	var in api.Search
	if err := json.Unmarshal(request, &in); err != nil {
		return nil, err
	}
	query, _ := serve.SearchOf(in, c.Principal)
	query, err := query.Complete()
	if err != nil {
		return nil, err
	}
	answer, err := s.Reader.Search(ctx, query)
	return domain.GivenHits(answer.Hits, query.Level), err
}

func (s room) briefAgain(ctx context.Context, c *serve.Call, request json.RawMessage) ([]domain.GivenItem, error) {
	var in api.ContextRequest
	if err := json.Unmarshal(request, &in); err != nil {
		return nil, err
	}
	need, _ := serve.NeedOf(c, in)
	need, err := need.Complete()
	if err != nil {
		return nil, err
	}
	verify := func(ctx context.Context, items ...*domain.Knowledge) error {
		return s.visible.Items.Verify(ctx, c, items...)
	}
	told, err := briefing.Author{
		SearchAll: s.Searcher.SearchAll, List: s.Reader.List, Live: s.Browser.Live, Verify: verify,
	}.Brief(ctx, need)
	return domain.GivenBriefing(told), err
}

// compare compares two answers, as far as the reader may see their items.
func compare(then receipts.Replayed, now []domain.GivenItem, by domain.Principal, all items) []api.ReceiptTodayHit {
	before := map[string]int{}
	for i, item := range then.Given {
		if !item.Hidden {
			before[item.ID] = i
		}
	}
	hits, found := []api.ReceiptTodayHit{}, map[string]bool{}
	for i, item := range now {
		k := item.Item
		found[k.ID] = true
		if !all.by.MaySee(k) {
			continue
		}
		hit := api.ReceiptTodayHit{ReceiptItem: hitOf(item), Now: i + 1}
		if at, there := before[k.ID]; !there {
			hit.Change = []string{"new"}
		} else if hit.Then = at + 1; hit.Then != hit.Now {
			hit.Change = []string{"moved"}
		}
		if at, there := before[k.ID]; there && revised(then.Given[at], k) {
			hit.Change = append(hit.Change, "revised")
		}
		hits = append(hits, hit)
	}
	for i, item := range then.Given {
		if item.Hidden || found[item.ID] {
			continue
		}
		hit := api.ReceiptTodayHit{ReceiptItem: all.itemOf(item.Item), Then: i + 1}
		hit.Change = whyGone(item, all.all[item.ID], by)
		hits = append(hits, hit)
	}
	return hits
}

// revised tells whether an item has another wording than that of then.
func revised(then receipts.GivenItem, k *domain.Knowledge) bool {
	return then.Knowledge != nil && then.Knowledge.Revision != k.Revision
}

// whyGone says why an item of then is not in the answer of now.
func whyGone(then receipts.GivenItem, k *domain.Knowledge, by domain.Principal) []string {
	switch {
	case k == nil || k.Status == domain.IsErased:
		return []string{"erased"}
	case k.Status == domain.IsDeleted:
		return []string{"forgotten"}
	case !by.MaySee(k):
		return []string{"out of reach"}
	case k.Status == domain.IsSuperseded:
		return []string{"superseded"}
	case revised(then, k):
		return []string{"gone", "revised"}
	}
	return []string{"gone"}
}

func hitOf(of domain.GivenItem) api.ReceiptItem {
	round := func(x float64) float64 { return math.Round(1e4*x) / 1e4 }
	return api.ReceiptItem{
		ID: of.Item.ID, Title: domain.TitleOf(of.Item), Version: of.Item.Version, Score: round(of.Score),
		Band: string(of.Band), Scope: string(of.Scope), Level: int(of.Level), Cut: of.Cut, Parts: api.ReceiptParts{
			Semantic: round(of.Semantic), Model: round(of.Model), Lexical: round(of.Lexical),
			Confidence: round(of.Confidence),
		},
	}
}
