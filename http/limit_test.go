package http

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
)

func TestACallerMayComeInBurstsButNotForLong(t *testing.T) {
	t.Parallel()
	l, now := newLimiter(10), time.Unix(0, 0)
	alice := domain.Principal{Tenant: "t", Subject: "user:alice", Authentication: "key:a"}
	bob := domain.Principal{Tenant: "t", Subject: "user:bob", Authentication: "key:b"}
	for i := range 20 {
		if err := l.take(alice, now); err != nil {
			t.Fatalf("request %d of a burst: %v", i+1, err)
		}
	}
	if err := l.take(alice, now); !errors.Is(err, errRate) {
		t.Errorf("beyond the burst: %v", err)
	}
	if err := l.take(bob, now); err != nil {
		t.Errorf("somebody else: %v", err)
	}
	if err := l.take(alice, now.Add(100*time.Millisecond)); err != nil {
		t.Errorf("a tenth of a second later: %v", err)
	}
	if err := l.take(alice, now.Add(100*time.Millisecond)); !errors.Is(err, errRate) {
		t.Errorf("and once more: %v", err)
	}
}

func TestAnUnauthenticatedCallerHasOneBucketUnderAnyName(t *testing.T) {
	t.Parallel()
	l, now := newLimiter(1), time.Unix(0, 0)
	var refused int
	for i := range 10 {
		p := domain.OpenPrincipal()
		p.Subject = domain.Entity(fmt.Sprintf("user:%d", i))
		if l.take(p, now) != nil {
			refused++
		}
	}
	if refused != 8 {
		t.Errorf("%d of 10 refused, want 8", refused)
	}
}

func TestFullBucketsAreForgotten(t *testing.T) {
	t.Parallel()
	l, now := newLimiter(1), time.Unix(0, 0)
	for i := range 10_001 {
		p := domain.Principal{Tenant: "t", Subject: domain.Entity(fmt.Sprintf("user:%d", i)), Authentication: "key"}
		if err := l.take(p, now.Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	if len(l.buckets) > 10 {
		t.Errorf("%d buckets are kept", len(l.buckets))
	}
}

func TestWithoutARateThereIsNoLimit(t *testing.T) {
	t.Parallel()
	l := newLimiter(0)
	for range 1000 {
		if err := l.take(domain.OpenPrincipal(), time.Unix(0, 0)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhoCameTooOftenIsToldWhenToComeAgain(t *testing.T) {
	t.Parallel()
	l, now := newLimiter(0.1), time.Unix(0, 0)
	alice := domain.Principal{Tenant: "t", Subject: "user:alice", Authentication: "key:a"}
	if err := l.take(alice, now); err != nil {
		t.Fatal(err)
	}
	refused := problemOf(l.take(alice, now.Add(3*time.Second)), "")
	if got := refused.GetHeaders().Get("Retry-After"); refused.Status != 429 || got != "7" {
		t.Errorf("got %d, and to come again after %s s", refused.Status, got)
	}
}
