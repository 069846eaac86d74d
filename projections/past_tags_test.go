package projections_test

import (
	"fmt"
	"testing"

	"github.com/annals-kb/annals/domain"
)

// tagBits are how many of the rows of an item tell what tags it had.
func (w pastWorld) tagBits(id string) (telling int) {
	w.t.Helper()
	noError(w.t, w.db.QueryRowContext(w.t.Context(),
		"SELECT count(*) FROM past_1 WHERE tenant = ? AND id = ? AND tag_bits NOT IN (0, -1)",
		w.by.Tenant, id).Scan(&telling))
	return telling
}

func TestErasingDestroysWhatTellsOfTags(t *testing.T) {
	eachPast(t, func(t *testing.T, w pastWorld) {
		w.secret("secret")
		w.secret("kept")
		w.readOn(500)
		if w.tagBits("secret") < 2 || w.tagBits("kept") < 2 {
			t.Fatalf("%d and %d rows tell of tags", w.tagBits("secret"), w.tagBits("kept"))
		}
		w.erase("secret")
		if w.tagBits("secret") > 0 {
			t.Error("the bits are there as soon as the texts are gone")
		}
		w.readOn(500)
		if w.tagBits("secret") > 0 || w.tagBits("kept") < 2 {
			t.Errorf("then, %d and %d rows tell of tags", w.tagBits("secret"), w.tagBits("kept"))
		}
	})
}

func TestTagsOfThePastAreThoseOfEachTime(t *testing.T) {
	eachPast(t, func(t *testing.T, w pastWorld) {
		var positions []int64
		tagged := func(tags domain.Tags) {
			w.submit(domain.Revise{Target: domain.Target{By: w.by, ID: "i"}, Changes: domain.Revised{Tags: &tags}})
			w.readOn(500)
			positions = append(positions, w.head())
		}
		w.remember("i", "something", domain.Public)
		for n := range 70 { // every bit is used, and some are of several
			tagged(domain.Tags{fmt.Sprint("key", n): {fmt.Sprint("value", n), "支付"}})
		}
		tagged(domain.Tags{})
		for n, position := range positions[:70] {
			key := fmt.Sprint("key", n)
			for _, values := range [][]string{nil, {"支付"}, {"none", fmt.Sprint("value", n)}} {
				found := func(at int64) int {
					page := must(w.past.List(t.Context(), domain.List{
						By: w.by, AsOf: at,
						Filter: domain.Filter{Tags: domain.Tags{key: values}},
					}))(t)
					return len(page.Items)
				}
				if found(position) != 1 || found(positions[n+1]) != 0 {
					t.Errorf("%s %v: %d items at its time, %d later", key, values, found(position), found(positions[n+1]))
				}
			}
		}
	})
}
