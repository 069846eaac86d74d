package projections_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rebuild"
)

// recorded is what the record says happened to the projection, and who did it.
func (w *world) recorded() (story []string) {
	w.t.Helper()
	all := must(w.log.Stream(w.t.Context(), domain.SystemTenant, domain.ProjectionStream("knowledge")))(w.t)
	for _, event := range all {
		name := strings.TrimPrefix(event.Name, "projection.")
		data := string(event.Data)
		version := data[len(`{"version":`):strings.IndexAny(data, ",}")]
		story = append(story, fmt.Sprintf("%s %s by %s", name, version, event.Actor))
	}
	return story
}

// stagesOf are those of a version that the server reached by itself after it was begun.
func stagesOf(version int, stages ...string) (story []string) {
	for _, stage := range stages {
		story = append(story, fmt.Sprintf("%s %d by agent:annals", stage, version))
	}
	return story
}

func TestWhatHappensToAProjectionIsRecorded(t *testing.T) {
	eachRebuilding(t, func(t *testing.T, r *rebuilding) {
		r.rememberMany(5, "what the log says")
		all := rebuild.Rebuilds{Rebuilder: r.Rebuilder}
		operator := domain.Principal{Tenant: "acme", Subject: "user:olga", Authentication: "key:x"}
		asked := domain.WithCaller(t.Context(), operator, domain.Origin{RequestID: "request-1"})
		rebuild := func(order domain.RebuildOrder) {
			must(all.Start(asked, "knowledge", order))(t)
			r.ended()
		}
		rebuild(domain.RebuildOrder{})
		for range 2 {
			noError(t, all.Rollback(asked, "knowledge"))
		}
		noError(t, all.Retire(asked, "knowledge"))
		rebuild(domain.RebuildOrder{WhatIf: true})
		r.at("verifying", func() { r.corrupt("UPDATE knowledge_4 SET helpful = 99 WHERE id = 'item-3'") })
		rebuild(domain.RebuildOrder{})
		cancelled := make(chan error, 1)
		r.during("verifying", func(ctx context.Context) {
			go func() { _, err := all.Cancel(asked, "knowledge"); cancelled <- err }()
			<-ctx.Done()
		})
		rebuild(domain.RebuildOrder{})
		if err := <-cancelled; err != nil {
			t.Error(err)
		}
		whole := []string{"loaded", "caught_up", "verified"}
		olga := func(what string) []string { return []string{what + " by user:olga"} }
		want := slices.Concat(
			olga("started 2"), stagesOf(2, append(whole, "switched")...), olga("rolled_back 1"), olga("rolled_back 2"),
			olga("retired 1"),
			olga("started 3"), stagesOf(3, append(whole, "retired")...),
			olga("started 4"), stagesOf(4, "loaded", "caught_up", "refused"),
			olga("started 5"), stagesOf(5, "loaded", "caught_up"), olga("cancelled 5"),
		)
		equal(t, r.recorded(), want, "(-recorded +happened)")
		if wrong := r.base.DropRetired(t.Context()); wrong != nil {
			t.Error(wrong)
		}
		equal(t, r.recorded(), want, "after a purge (-recorded +happened)")
	})
}
