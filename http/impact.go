package http

import "github.com/annals-kb/annals/domain"

// rebuildImpact is what a new version means to those who ask.
type rebuildImpact struct {
	Confidence confidenceImpact `json:"confidence"`
	Answers    answerImpact     `json:"answers"`
}

type confidenceImpact struct {
	Items   int64            `json:"items" doc:"That answers may contain."`
	Raised  int64            `json:"raised"`
	Lowered int64            `json:"lowered"`
	Mean    float64          `json:"mean" doc:"By how much it moves, up or down, where it moves."`
	Before  []int64          `json:"before" nullable:"false" doc:"Items by tenths of confidence: 0 to 0.1, and so on."`
	After   []int64          `json:"after" nullable:"false"`
	Most    []confidenceMove `json:"most" nullable:"false" doc:"The ten that move farthest."`
}

type confidenceMove struct {
	Tenant    string  `json:"tenant"`
	ID        string  `json:"id"`
	Before    float64 `json:"before"`
	After     float64 `json:"after"`
	Helpful   int     `json:"helpful"`
	Harmful   int     `json:"harmful"`
	Reporters int     `json:"stale_reporters"`
}

type answerImpact struct {
	Others    int          `json:"others" doc:"Answers that have other items among their first ten."`
	Reordered int          `json:"reordered" doc:"Answers that have the same items in another order."`
	First     int          `json:"first" doc:"Answers that begin with another item."`
	Most      []answerMove `json:"most" nullable:"false" doc:"The ten that differ most."`
}

type answerMove struct {
	Tenant string   `json:"tenant"`
	ID     string   `json:"id" doc:"The item whose task was searched for."`
	Same   float64  `json:"same" doc:"The share of items that both have."`
	Before []string `json:"before" nullable:"false" doc:"Ids of the first hits."`
	After  []string `json:"after" nullable:"false"`
}

func impactOf(i domain.RebuildImpact) rebuildImpact {
	shown := rebuildImpact{
		Confidence: confidenceImpact{
			Items: i.Confidence.Items, Raised: i.Confidence.Raised, Lowered: i.Confidence.Lowered,
			Before: i.Confidence.Before[:], After: i.Confidence.After[:], Most: []confidenceMove{},
		},
		Answers: answerImpact{Others: i.Answers.Others, Reordered: i.Answers.Reordered, First: i.Answers.First, Most: []answerMove{}},
	}
	if moved := i.Confidence.Raised + i.Confidence.Lowered; moved > 0 {
		shown.Confidence.Mean = i.Confidence.Moved / float64(moved)
	}
	for _, m := range i.Confidence.Most {
		shown.Confidence.Most = append(shown.Confidence.Most, confidenceMove(m))
	}
	for _, m := range i.Answers.Most {
		shown.Answers.Most = append(shown.Answers.Most, answerMove{
			Tenant: m.Tenant, ID: m.ID, Same: m.Same, Before: some(m.Before), After: some(m.After),
		})
	}
	return shown
}
