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
		if err := key.CheckValid(now); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", why, err)
		}
		if err := key.CheckValid(now.Add(-2 * time.Hour)); (err == nil) != key.RevokedAt.IsZero() {
			t.Errorf("%s, before: %v", why, err)
		}
	}
}

func TestALoweredRoleIsNeverMoreThanItWas(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ was, to, want Role }{
		{Root, Admin, Admin},
		{Admin, Auditor, Auditor},
		{Admin, Service, Service},
		{Service, Member, Member},
		{Member, Member, Member},
		{Member, Auditor, Member},
		{Service, Admin, Service},
		{Admin, Root, Admin},
		{Service, Auditor, Member},
		{Auditor, Service, Member},
	} {
		if got := c.was.Lowered(c.to); got != c.want {
			t.Errorf("%s, to be %s, is %s, want %s", c.was, c.to, got, c.want)
		}
	}
}
