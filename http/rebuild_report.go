package http

import (
	"time"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/domain"
)

func rebuildOf(r domain.Rebuild) api.Rebuild {
	shown := api.Rebuild{
		Projection: r.Projection, Active: r.Active, Version: r.Version, State: r.State, WhatIf: r.WhatIf,
		Settings: r.Settings,
		BeganAt:  known(r.BeganAt), UpdatedAt: known(r.UpdatedAt), Error: r.Error, Report: reportOf(r.Report),
	}
	if p := r.Progress; p != nil {
		shown.Progress = &api.RebuildProgress{
			Phase: p.Phase, Streams: p.Streams, Total: p.Total, Events: p.Events, Behind: p.Behind, Verified: p.Verified,
			Seconds: seconds(p.Took), Rate: p.Rate, SecondsLeft: seconds(p.Left),
		}
	}
	return shown
}

func reportOf(r *domain.RebuildReport) *api.RebuildReport {
	if r == nil {
		return nil
	}
	return &api.RebuildReport{
		Version: r.Version, Against: r.Against, Passed: r.Passed, Items: r.Items, Rows: r.Rows, Checksums: r.Checksums,
		Wrong: notNil(r.Wrong), Changed: r.Changed, Intended: notNil(r.Intended), Repair: r.Repair,
		Overlap: r.Overlap, Searches: r.Searches, Impact: impactOf(r.Impact),
	}
}

func planOf(p domain.RebuildPlan) api.RebuildPlan {
	var policies []string
	for _, policy := range domain.ConfidencePolicies() {
		policies = append(policies, policy.Name)
	}
	return api.RebuildPlan{
		Projection: p.Projection, Active: p.Active, Version: p.Version, Settings: p.Settings, Policies: policies,
		Intended: notNil(p.Intended), Streams: p.Streams, Events: p.Events, Bytes: p.Bytes, Need: p.Need,
		Free: p.Free, Seconds: seconds(p.Took),
	}
}

// seconds rounds a duration to 10 ms.
func seconds(d time.Duration) float64 { return d.Round(10 * time.Millisecond).Seconds() }

// notNil is a list that is not null.
func notNil(words []string) []string {
	if words == nil {
		return []string{}
	}
	return words
}

func impactOf(i domain.RebuildImpact) api.RebuildImpact {
	shown := api.RebuildImpact{
		Confidence: api.ConfidenceImpact{
			Items: i.Confidence.Items, Raised: i.Confidence.Raised, Lowered: i.Confidence.Lowered,
			Before: i.Confidence.Before[:], After: i.Confidence.After[:], Most: []api.ConfidenceMove{},
		},
		Answers: api.AnswerImpact{
			Others: i.Answers.Others, Reordered: i.Answers.Reordered, First: i.Answers.First, Most: []api.AnswerMove{},
		},
	}
	if moved := i.Confidence.Raised + i.Confidence.Lowered; moved > 0 {
		shown.Confidence.Mean = i.Confidence.Moved / float64(moved)
	}
	for _, m := range i.Confidence.Most {
		shown.Confidence.Most = append(shown.Confidence.Most, api.ConfidenceMove(m))
	}
	for _, m := range i.Answers.Most {
		shown.Answers.Most = append(shown.Answers.Most, api.AnswerMove{
			Tenant: m.Tenant, ID: m.ID, Same: m.Same, Before: notNil(m.Before), After: notNil(m.After),
		})
	}
	return shown
}
