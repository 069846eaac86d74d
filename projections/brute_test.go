package projections_test

import (
	"github.com/annals-kb/annals/domain"
)

// IsLive tells whether answers may contain an item at all.
func IsLive(k *domain.Knowledge) bool {
	return k.Status == domain.Active || k.Status == domain.IsSuperseded
}
