package domain_test

import (
	"fmt"
	"testing"

	. "github.com/annals-kb/annals/domain"
)

func TestAnImpactNamesWhatMovesFarthest(t *testing.T) {
	t.Parallel()
	var c ConfidenceImpact
	for i := range 100 {
		c.Note(ConfidenceMove{ID: fmt.Sprint("item-", i), Before: 0.5, After: 0.5 + float64(i%50-25)/100})
	}
	if c.Items != 100 || c.Raised != 48 || c.Lowered != 50 || len(c.Most) != 10 {
		t.Errorf("got %d items, %d up, %d down, %d named", c.Items, c.Raised, c.Lowered, len(c.Most))
	}
	if c.Before[5] != 100 || c.After[5] != 20 || c.After[2] != 10 {
		t.Errorf("got %v before and %v after", c.Before, c.After)
	}
	if c.Most[0].ID != "item-0" || c.Most[1].ID != "item-50" || c.Most[0].After != 0.25 {
		t.Errorf("got %+v first", c.Most[:2])
	}

	var a AnswerImpact
	a.Note(AnswerMove{ID: "same", Same: 1, Before: []string{"a", "b"}, After: []string{"a", "b"}})
	a.Note(AnswerMove{ID: "turned", Same: 1, Before: []string{"a", "b"}, After: []string{"b", "a"}})
	a.Note(AnswerMove{ID: "other", Same: 0.5, Before: []string{"a", "b"}, After: []string{"a", "c"}})
	if a.Others != 1 || a.Reordered != 1 || a.First != 1 || len(a.Most) != 2 || a.Most[0].ID != "other" {
		t.Errorf("got %+v", a)
	}
}
