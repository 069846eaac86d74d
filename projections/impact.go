package projections

import (
	"slices"

	"github.com/annals-kb/annals/domain"
)

// The columns of an item's row that tell how its confidence moves.
var (
	statusColumn     = slices.Index(knowledgeColumns, "status")
	confidenceColumn = slices.Index(knowledgeColumns, "confidence")
	helpfulColumn    = slices.Index(knowledgeColumns, "helpful")
	harmfulColumn    = slices.Index(knowledgeColumns, "harmful")
	reportersColumn  = slices.Index(knowledgeColumns, "stale_reporters")
)

// noteConfidence adds to the impact how the confidence of an item moves that answers may contain.
func (e *verification) noteConfidence(was, have []any) {
	switch domain.Status(have[statusColumn].(string)) {
	case domain.Active, domain.IsSuperseded:
	default:
		return
	}
	e.report.Impact.Confidence.Note(domain.ConfidenceMove{
		Tenant: have[0].(string), ID: have[1].(string),
		Before: was[confidenceColumn].(float64), After: have[confidenceColumn].(float64),
		Helpful: have[helpfulColumn].(int), Harmful: have[harmfulColumn].(int), Reporters: have[reportersColumn].(int),
	})
}
