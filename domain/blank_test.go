package domain_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	. "github.com/annals-kb/annals/domain"
)

func TestTextThatNobodySeesIsEmpty(t *testing.T) {
	t.Parallel()
	for _, blank := range []string{
		"\u200b\ufeff", "\u3164", "\u115f\u1160", "\uffa0", "\u2800 \u2800", "\u00ad", "\u2060", "\u202e", "\ufe0f",
		"\U000e0020", "\u034f", "\u180b", "\u3000\u200b", "\u200d \u200c",
	} {
		for field, change := range map[string]func(*Remember){
			"content": func(c *Remember) { c.Knowledge.Text.Content = blank },
			"task":    func(c *Remember) { c.Knowledge.Text.Task = blank },
			"tag":     func(c *Remember) { c.Knowledge.Text.Tags = Tags{"a": {blank}} },
			"key":     func(c *Remember) { c.Knowledge.Text.Tags = Tags{blank: {"a"}} },
			"source":  func(c *Remember) { c.Knowledge.Source.Name = blank },
		} {
			if _, err := remember(as(alice), change).Complete(); !errors.Is(err, ErrInvalid) {
				t.Errorf("%s %q: %v", field, blank, err)
			}
		}
		if _, err := (Search{By: as(alice), Text: blank}).Complete(); !errors.Is(err, ErrInvalid) {
			t.Errorf("query %q: %v", blank, err)
		}
		if err := (Delete{Target: Target{By: as(alice), ID: itemID}, Reason: blank}).Validate(); !errors.Is(err, ErrInvalid) {
			t.Errorf("reason %q: %v", blank, err)
		}
	}
	for _, seen := range []string{"a", "\u200bж", "👩\u200d💻", "一", ".", "\x01", "e\u0301"} {
		if IsBlank(seen) {
			t.Errorf("%q counts as empty", seen)
		}
	}
}

func TestTagsThatLookTheSameAreTheSame(t *testing.T) {
	t.Parallel()
	const joined, family = "می\u200cخواهم", "👩\u200d💻" // here the characters of no width are seen
	tags := Tags{"cafe\u0301": {"re\u0301sume\u0301", "r\u00e9sum\u00e9", "\ufeffa\u200bb"}, "x": {joined, family}}
	c, err := remember(as(alice), func(c *Remember) { c.Knowledge.Text.Tags = tags }).Complete()
	want := Tags{"caf\u00e9": {"r\u00e9sum\u00e9", "ab"}, "x": {joined, family}}
	if diff := cmp.Diff(c.Knowledge.Text.Tags, want); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	asked := Filter{Tags: Tags{"x": {"a\u200bb"}}}.Tagged()[0]["x"]
	if !slices.Equal(asked, []string{"ab", "a\u200bb"}) { // an older item may have it so
		t.Errorf("asked for %q", asked)
	}
}
