package console

import (
	"testing"
	"time"

	"github.com/annals-kb/annals/http/api"
)

func TestAKeyIsMarkedWhenItWasNotUsedFor90Days(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	ago := func(days int) *time.Time { at := now.AddDate(0, 0, -days); return &at }
	p := &page{Now: now, Caller: &api.Identity{Authentication: "key:own"}}
	for name, c := range map[string]struct {
		key    api.IssuedKey
		unused bool
	}{
		"used lately":         {api.IssuedKey{State: "valid", CreatedAt: *ago(400), UsedAt: ago(89)}, false},
		"used long ago":       {api.IssuedKey{State: "valid", CreatedAt: *ago(400), UsedAt: ago(90)}, true},
		"never used":          {api.IssuedKey{State: "valid", CreatedAt: *ago(400)}, true},
		"never used, but new": {api.IssuedKey{State: "valid", CreatedAt: *ago(1), ExpiresAt: ago(-1)}, false},
		"expired":             {api.IssuedKey{State: "expired", CreatedAt: *ago(400), ExpiresAt: ago(0)}, false},
		"beside the next one": {api.IssuedKey{State: "valid", CreatedAt: *ago(2), ExpiresAt: ago(-1), ReplacedBy: "x"}, false},
	} {
		got := issued(p, c.key)
		if got.Unused != c.unused || got.Own {
			t.Errorf("%s: unused: %t, own: %t", name, got.Unused, got.Own)
		}
		revocable, rotatable := c.key.State == "valid", c.key.State == "valid" && c.key.ReplacedBy == ""
		if got.Allows("revoke") != revocable || got.Allows("rotate") != rotatable {
			t.Errorf("%s: revoke: %t, rotate: %t", name, got.Allows("revoke"), got.Allows("rotate"))
		}
	}
	if !issued(p, api.IssuedKey{Prefix: "own"}).Own {
		t.Error("the reader's own key is not theirs")
	}
}
