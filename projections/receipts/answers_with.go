package receipts

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/annals-kb/annals/domain"
)

// AnswersWith counts the answers that had any of some items, by their numbers, and names whom they were given to. The
// count is -1 if some receipts cannot be read.
func (r *Receipts) AnswersWith(
	ctx context.Context, tenant string, numbers []int64,
) (answers int64, to []domain.Entity, err error) {
	const atOnce = 1000
	told := map[domain.Entity]bool{}
	for q := (Query{Tenant: tenant, Items: numbers, Limit: atOnce}); len(numbers) > 0; {
		list, err := r.List(ctx, q)
		if errors.Is(err, errPage) {
			return -1, nil, nil
		} else if err != nil {
			return 0, nil, err
		}
		for _, one := range list.Receipts {
			answers++
			told[one.Caller], told[one.OnBehalfOf] = true, true
		}
		if q.Before = list.Next; q.Before == "" {
			break
		}
	}
	delete(told, "")
	return answers, slices.Sorted(maps.Keys(told)), nil
}
