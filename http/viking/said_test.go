package viking

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
)

func TestFrontMatterMayBeWrittenInOtherWays(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"---\nName: deploy\nDESCRIPTION: how to deploy\nTags: [a]\n---\nText", "---\nname: deploy\ndescription: how to deploy\ntags: a\n...\nText",
		"---\nName: deploy\nDescription: how: to deploy\nTags: a\n... \n",
	} {
		k, err := skillOfText(text)
		if err != nil || k.Name != "deploy" || k.Description == "" || len(k.Tags) != 1 {
			t.Errorf("%q: %+v, %v", text, k, err)
		}
	}
}

func TestARangeTakesTheDatesOfFind(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	for bound, want := range map[string]domain.Filter{
		`"gte":"2026-01-02"`:                {CreatedFrom: day},
		`"gt":"2026-01-02"`:                 {CreatedFrom: day.Add(24 * time.Hour)},
		`"lt":"2026-01-02","gte":null`:      {CreatedTo: day},
		`"lte":"2026-01-02"`:                {CreatedTo: day.Add(24 * time.Hour)},
		`"lte":"2026-01-02T00:00:00Z"`:      {CreatedTo: day.Add(time.Microsecond)},
		`"gte":"2026-01-02T01:00:00+01:00"`: {CreatedFrom: day},
		`"gte":"90d"`:                       {}, `"lt":"tomorrow"`: {}, `"gte":"-2d"`: {}, `"lte":"now"`: {},
	} {
		var c condition
		var f domain.Filter
		err := json.Unmarshal([]byte(`{"op":"range","field":"created_at",`+bound+`}`), &c.members)
		c.Field = "created_at"
		if err == nil {
			err = c.timeRange(&f)
		}
		exact := want.CreatedFrom.Equal(f.CreatedFrom) && want.CreatedTo.Equal(f.CreatedTo)
		some := want.CreatedFrom.IsZero() && want.CreatedTo.IsZero() && !(f.CreatedFrom.IsZero() && f.CreatedTo.IsZero())
		if err != nil || !exact && !some {
			t.Errorf("%s: from %s to %s, %v", bound, f.CreatedFrom, f.CreatedTo, err)
		}
	}
	for _, wrong := range []string{`"gte":"soon"`, `"gte":7`, `"gte":null`} {
		c := condition{Field: "created_at"}
		if err := json.Unmarshal([]byte("{"+wrong+"}"), &c.members); err != nil || c.timeRange(&domain.Filter{}) == nil {
			t.Errorf("%s is accepted, %v", wrong, err)
		}
	}
}
