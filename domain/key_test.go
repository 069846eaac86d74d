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

func TestTheStateOfAKeySaysWhatHasBecomeOfIt(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	before, after := now.AddDate(0, 0, -1), now.AddDate(0, 0, 1)
	for want, keys := range map[string][]Key{
		"valid":    {{}, {ExpiresAt: after}, {ExpiresAt: after, ReplacedBy: "x"}},
		"expired":  {{ExpiresAt: now}},
		"replaced": {{ExpiresAt: before, ReplacedBy: "x"}, {ExpiresAt: before, ReplacedBy: "x", InvitedBy: "user:olga"}},
		"invited":  {{ExpiresAt: after, InvitedBy: "user:olga"}},
		"ended":    {{ExpiresAt: now, InvitedBy: "user:olga"}},
		"revoked":  {{RevokedAt: before}, {RevokedAt: before, InvitedBy: "user:olga", ReplacedBy: "x"}},
	} {
		for _, key := range keys {
			if got := key.StateAt(now); got != want {
				t.Errorf("%+v: got %s, want %s", key, got, want)
			}
		}
	}
}
