package serve_test

import (
	"errors"
	"testing"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/serve"
)

func TestACursorLeadsBackToItsPlace(t *testing.T) {
	t.Parallel()
	question := domain.Filter{Owner: "user:1"}
	for _, place := range []int64{1, 255, 1 << 40} {
		got, err := serve.PlaceOf(serve.Cursor(place, question), question)
		if err != nil || got != place {
			t.Errorf("place %d: got %d, %v", place, got, err)
		}
	}
	if got := serve.Cursor(0, question); got != "" {
		t.Errorf("at the end there is a cursor: %q", got)
	}
	if got, err := serve.PlaceOf("", question); got != 0 || err != nil {
		t.Errorf("without a cursor: %d, %v", got, err)
	}
}

func TestACursorIsOfUseForItsQuestionOnly(t *testing.T) {
	t.Parallel()
	given := serve.Cursor(42, domain.Filter{Owner: "user:1"})
	for name, question := range map[string]any{
		"another filter": domain.Filter{Owner: "user:2"},
		"another list":   domain.EventQuery{},
	} {
		if _, err := serve.PlaceOf(given, question); !errors.Is(err, domain.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestACursorOfASortedListHasItsKey(t *testing.T) {
	t.Parallel()
	for _, key := range []int64{0, -3, 1 << 40} {
		given := serve.KeyedCursor(42, key, "q")
		place, got, err := serve.KeyedPlaceOf(given, "q")
		if err != nil || place != 42 || got != key {
			t.Errorf("key %d: got %d, %d, %v", key, place, got, err)
		}
		if _, _, err := serve.KeyedPlaceOf(given, "other"); !errors.Is(err, domain.ErrInvalid) {
			t.Errorf("another question: %v", err)
		}
		if _, err := serve.PlaceOf(given, "q"); !errors.Is(err, domain.ErrInvalid) {
			t.Errorf("a list that is not sorted: %v", err)
		}
	}
	if _, _, err := serve.KeyedPlaceOf(serve.Cursor(42, "q"), "q"); !errors.Is(err, domain.ErrInvalid) {
		t.Errorf("a cursor without a key: %v", err)
	}
}

// FuzzCursor holds that nothing but what cursor made is taken.
func FuzzCursor(f *testing.F) {
	f.Add("AAAAAAAAACo")
	f.Add(serve.Cursor(42, "q"))
	f.Add(serve.Cursor(42, "other"))
	f.Fuzz(func(t *testing.T, given string) {
		place, err := serve.PlaceOf(given, "q")
		if err == nil && serve.Cursor(place, "q") != given {
			t.Errorf("%q was taken for place %d", given, place)
		}
	})
}
