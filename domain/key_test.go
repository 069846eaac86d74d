package domain_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/annals-kb/annals/domain"
)

func TestWhoeverHasAnOldKeySeesWhyItOpensNothing(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for why, key := range map[string]Key{
		"revoked":     {RevokedAt: now.Add(-time.Hour), ReplacedBy: "next"},
		"replaced":    {ExpiresAt: now, ReplacedBy: "next"},
		"has expired": {ExpiresAt: now},
	} {
		if err := key.Opens(now); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", why, err)
		}
		if err := key.Opens(now.Add(-2 * time.Hour)); (err == nil) != key.RevokedAt.IsZero() {
			t.Errorf("%s, before: %v", why, err)
		}
	}
}
