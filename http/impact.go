package http

import (
	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/domain"
)

func impactOf(i domain.RebuildImpact) api.RebuildImpact {
	shown := api.RebuildImpact{
		Confidence: api.ConfidenceImpact{
			Items: i.Confidence.Items, Raised: i.Confidence.Raised, Lowered: i.Confidence.Lowered,
			Before: i.Confidence.Before[:], After: i.Confidence.After[:], Most: []api.ConfidenceMove{},
		},
		Answers: api.AnswerImpact{Others: i.Answers.Others, Reordered: i.Answers.Reordered, First: i.Answers.First, Most: []api.AnswerMove{}},
	}
	if moved := i.Confidence.Raised + i.Confidence.Lowered; moved > 0 {
		shown.Confidence.Mean = i.Confidence.Moved / float64(moved)
	}
	for _, m := range i.Confidence.Most {
		shown.Confidence.Most = append(shown.Confidence.Most, api.ConfidenceMove(m))
	}
	for _, m := range i.Answers.Most {
		shown.Answers.Most = append(shown.Answers.Most, api.AnswerMove{
			Tenant: m.Tenant, ID: m.ID, Same: m.Same, Before: some(m.Before), After: some(m.After),
		})
	}
	return shown
}
