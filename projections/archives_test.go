package projections_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/annals-kb/annals/domain"
)

// However many archives say it better, a search finds the lesson alone, now and as of a position, unless it asks
// for archives.
func TestArchivesAreFoundByThoseWhoAskForThem(t *testing.T) {
	eachPast(t, func(t *testing.T, w pastWorld) {
		const archives = 300
		var commands []domain.Command
		remember := func(id, uri, content string, tags domain.Tags) {
			commands = append(commands, w.knowing(id, domain.Remembered{
				Type: domain.Usecase, Owner: "user:mia", Scopes: []domain.Scope{"user:mia"},
				Text: domain.Text{Content: content, URI: uri, Tags: tags},
			}))
		}
		remember("lesson", "", "The kohlrabi deploy needs chart 1.4, and a window of an hour.", nil)
		for i := range archives {
			remember(domain.ArchiveItem("session:mia/s", i+1), domain.ArchiveURI("user:mia", "s", i+1), "user: kohlrabi deploy",
				domain.Tags{"category": {domain.ArchiveTag}})
		}
		w.submitAll(commands...)
		w.understand()
		w.readOn(500)
		for name, filter := range map[string]domain.Filter{
			"": {}, "the user's": {Owner: "user:mia"}, "a place": {URIPrefix: "viking://session/"},
			"a session": {Under: []domain.URI{"viking://session/mia/s"}},
			"their tag": {Tags: domain.Tags{"category": {domain.ArchiveTag}}},
		} {
			asked := filter.URIPrefix != "" || len(filter.Under)+len(filter.Tags) > 0
			for _, position := range []int64{0, w.head()} {
				s := must(domain.Search{
					By: w.by, Text: "kohlrabi deploy", Filter: filter, Limit: 20, MinScore: new(float64),
					AsOf: position,
				}.Complete())(t)
				answer, err := w.base.Search(t.Context(), s)
				if position != 0 {
					answer, err = w.past.Search(t.Context(), s)
				}
				if err != nil {
					t.Fatal(err)
				}
				var ids []string
				for _, hit := range answer.Hits {
					ids = append(ids, hit.ID)
				}
				if !asked && !slices.Equal(ids, []string{"lesson"}) || asked && (len(ids) != 20 || slices.Contains(ids, "lesson")) {
					t.Errorf("%q as of %d: found %v", name, position, fmt.Sprint(ids))
				}
			}
		}
	})
}
