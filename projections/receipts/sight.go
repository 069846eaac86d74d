package receipts

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/annals-kb/annals/domain"
)

// Who sees a receipt: the entity that was given the answer, or for which it was given; admins and auditors; and, as far
// as its items, who looks after one of them.

// Show replays a receipt for a reader. It hides the wordings of items that the reader may not see any more. The error
// matches [domain.ErrNotFound] if the reader may not see the receipt.
func (r *Receipts) Show(ctx context.Context, by domain.Principal, id string) (Replayed, error) {
	receipt, err := r.Find(ctx, by.Tenant, id)
	if err != nil {
		return Replayed{}, err
	}
	seen, err := r.Visible(ctx, by, receipt)
	if err != nil {
		return Replayed{}, err
	}
	if len(seen) == 0 {
		return Replayed{}, notFound(id)
	}
	replayed, err := r.Replay(ctx, receipt)
	if err != nil {
		return replayed, err
	}
	items, err := r.items(ctx, by.Tenant, []Receipt{receipt})
	if err != nil {
		return replayed, err
	}
	replayed.Question = seen[0].Question
	replayed.only(seen[0].Items)
	replayed.Hide(func(id string) bool { return by.SeesAll() || items[id] != nil && by.MaySee(items[id]) })
	return replayed, nil
}

// Visible are the receipts that a reader may see. Those of others have only the items that the reader looks after, and
// not the question.
func (r *Receipts) Visible(ctx context.Context, by domain.Principal, all ...Receipt) ([]Receipt, error) {
	foreign := func(receipt Receipt) bool { return !receipt.IsWholeFor(by) }
	if !slices.ContainsFunc(all, foreign) {
		return all, nil
	}
	items, err := r.items(ctx, by.Tenant, all)
	if err != nil {
		return nil, err
	}
	stream, err := r.log.Reader.State(ctx, by.Tenant, domain.VerificationStream)
	if err != nil {
		return nil, err
	}
	policies, _ := stream.State.(domain.Verification)
	byNumber := map[int64]*domain.Knowledge{}
	for _, k := range items {
		byNumber[k.Number] = k
	}
	var seen []Receipt
	for _, receipt := range all {
		if foreign(receipt) {
			receipt.Items = slices.DeleteFunc(slices.Clone(receipt.Items), func(item Item) bool {
				k := byNumber[item.Number]
				return k == nil || !by.MaySteward(k, policies)
			})
			receipt.Question.Text, receipt.Question.Salt = "", nil
			if len(receipt.Items) == 0 {
				continue
			}
		}
		seen = append(seen, receipt)
	}
	return seen, nil
}

// IsWholeFor tells whether a reader may see the whole receipt: auditors and admins, and to whom the answer was given,
// or for whom.
func (r *Receipt) IsWholeFor(by domain.Principal) bool {
	to := cmp.Or(r.OnBehalfOf, r.Caller)
	return by.SeesAll() || to != "" && to == by.EffectiveSubject()
}

// items are the items of receipts as they are now, by their ids.
func (r *Receipts) items(ctx context.Context, tenant string, all []Receipt) (map[string]*domain.Knowledge, error) {
	var numbers []int64
	for _, receipt := range all {
		for _, item := range receipt.Items {
			numbers = append(numbers, item.Number)
		}
	}
	slices.Sort(numbers)
	named, err := r.IDs(ctx, tenant, slices.Compact(numbers)...)
	if err != nil || len(named) == 0 {
		return nil, err
	}
	return r.options.Items.Items(ctx, tenant, slices.Sorted(maps.Values(named)))
}
