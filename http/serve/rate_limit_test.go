package serve

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
)

var alice, start = domain.Principal{Tenant: "t", Subject: "user:alice", Authentication: "key:a"}, time.Unix(0, 0)

func TestAKeyMayComeInBurstsButNotForLong(t *testing.T) {
	t.Parallel()
	s := NewLimiter(10, 20)
	for i := range 20 {
		if err := s.Check(alice, start); err != nil {
			t.Fatalf("request %d of a burst: %v", i+1, err)
		}
	}
	if err := s.Check(alice, start); !errors.Is(err, ErrRate) {
		t.Errorf("beyond the burst: %v", err)
	}
	another := alice
	another.Authentication = "key:b"
	if err := s.Check(another, start); err != nil {
		t.Errorf("with another key: %v", err)
	}
	if err := s.Check(alice, start.Add(100*time.Millisecond)); err != nil {
		t.Errorf("a tenth of a second later: %v", err)
	}
	another.Authentication, another.OnBehalfOf = alice.Authentication, "user:bob"
	if err := s.Check(another, start.Add(100*time.Millisecond)); !errors.Is(err, ErrRate) {
		t.Errorf("and once more, for somebody else: %v", err)
	}
}

func TestTokensAreCountedBySubject(t *testing.T) {
	t.Parallel()
	s := NewLimiter(0.1, 0.2)
	for _, name := range []string{"a", "b"} {
		p := domain.Principal{Tenant: "t", Subject: domain.Entity("user:" + name), Authentication: "jwt:https://issuer.example"}
		if err := s.Check(p, start); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := s.Check(p, start); !errors.Is(err, ErrRate) {
			t.Errorf("%s once more: %v", name, err)
		}
	}
}

func TestAnUnauthenticatedCallerHasOneBucketUnderAnyName(t *testing.T) {
	t.Parallel()
	s := NewLimiter(1, 2)
	var refused int
	for i := range 10 {
		p := domain.OpenPrincipal()
		p.Subject = domain.Entity(fmt.Sprintf("user:%d", i))
		if s.Check(p, start) != nil {
			refused++
		}
	}
	if refused != 8 {
		t.Errorf("%d of 10 refused, want 8", refused)
	}
}

func TestFullBucketsAreForgotten(t *testing.T) {
	t.Parallel()
	l := NewLimiter(1, 2)
	for i := range MostBuckets + 1 {
		if wait := l.Take(fmt.Sprint(i), start.Add(time.Duration(i)*time.Second)); wait > 0 {
			t.Fatal(wait)
		}
	}
	if len(l.buckets) > 10 {
		t.Errorf("%d buckets are kept", len(l.buckets))
	}
}

func TestNeverMoreThanManyBucketsAreKept(t *testing.T) {
	t.Parallel()
	l := NewLimiter(1, 2)
	for i := range 2*MostBuckets + 1 {
		l.Take(fmt.Sprint(i), start)
		if len(l.buckets) > MostBuckets {
			t.Fatalf("%d buckets are kept", len(l.buckets))
		}
	}
}

func TestWithoutARateThereIsNoLimit(t *testing.T) {
	t.Parallel()
	s := NewLimiter(0, 0)
	for range 1000 {
		if err := s.Check(domain.OpenPrincipal(), start); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhoCameTooOftenIsToldWhenToComeAgain(t *testing.T) {
	t.Parallel()
	s := NewLimiter(0.1, 0.2)
	if err := s.Check(alice, start); err != nil {
		t.Fatal(err)
	}
	refused := ProblemOf(s.Check(alice, start.Add(3*time.Second)), "")
	if got := refused.GetHeaders().Get("Retry-After"); refused.Status != 429 || got != "7" {
		t.Errorf("got %d, and to come again after %s s", refused.Status, got)
	}
}
