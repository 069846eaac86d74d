package projections_test

import (
	"github.com/annals-kb/annals/domain"
)

func idsOf(page domain.ListPage) (ids []string) {
	for _, k := range page.Items {
		ids = append(ids, k.ID)
	}
	return ids
}
