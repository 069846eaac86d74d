package serve_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
)

func TestEveryErrorHasItsAnswer(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]int{
		domain.ErrInvalid:        http.StatusUnprocessableEntity,
		domain.ErrMalformed:      http.StatusBadRequest,
		domain.ErrNotFound:       http.StatusNotFound,
		domain.ErrForbidden:      http.StatusForbidden,
		domain.ErrTaken:          http.StatusConflict,
		domain.ErrConflict:       http.StatusConflict,
		domain.ErrPrecondition:   http.StatusPreconditionFailed,
		domain.ErrDeleted:        http.StatusGone,
		domain.ErrErased:         http.StatusGone,
		domain.ErrKeyReused:      http.StatusUnprocessableEntity,
		domain.ErrBusy:           http.StatusServiceUnavailable,
		domain.ErrUnavailable:    http.StatusServiceUnavailable,
		domain.ErrFull:           http.StatusInsufficientStorage,
		domain.ErrUnprivileged:   http.StatusInternalServerError,
		domain.ErrTooLarge:       http.StatusRequestEntityTooLarge,
		context.DeadlineExceeded: http.StatusServiceUnavailable,
		serve.ErrRate:            http.StatusTooManyRequests,
		serve.ErrMediaType:       http.StatusUnsupportedMediaType,
		errors.New("anything"):   http.StatusInternalServerError,
	} {
		p := serve.ProblemOf(fmt.Errorf("while testing: %w", domain.Refuse(err, "detail")), "urn:x")
		if p.Status != want {
			t.Errorf("%v: %d, want %d", err, p.Status, want)
		}
		if later := p.GetHeaders().Get("Retry-After"); (later != "") != (want == 503 || want == 507 || want == 429) {
			t.Errorf("%v: Retry-After is %q", err, later)
		}
	}
}

func TestWhatNobodyPutIntoWordsForCallersIsNotTold(t *testing.T) {
	t.Parallel()
	got := *serve.ProblemOf(fmt.Errorf("query SELECT content: %w", errors.New("pq: password is hunter2")), "urn:x")
	want := serve.Refused{Problem: api.Problem{
		Type: "urn:annals:problem:unexpected", Title: "Something went wrong here",
		Status: http.StatusInternalServerError, Instance: "urn:x", Fix: "the server's log says why, at urn:x",
	}}
	if diff := cmp.Diff(got, want, cmp.AllowUnexported(serve.Refused{})); diff != "" {
		t.Error(diff)
	}
}

func TestAFieldThatCouldNotBeReadIsNotJudgedAgain(t *testing.T) {
	t.Parallel()
	found := domain.Problems{{Field: "content", Message: "must be a string"}}
	err := serve.Merge(found, &domain.Invalid{Problems: []domain.Problem{
		{Field: "content", Message: "must not be empty"}, {Field: "owner", Message: "must be an entity"},
	}})
	want := []string{"content: must be a string", "owner: must be an entity"}
	if got := strings.Split(err.Error(), "; "); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if err := serve.Merge(found, domain.Refuse(domain.ErrForbidden, "no")); !errors.Is(err, domain.ErrInvalid) {
		t.Errorf("bad fields come before permission: %v", err)
	}
	if err := serve.Merge(nil, domain.ErrForbidden); err != domain.ErrForbidden { //nolint:errorlint // the very same
		t.Errorf("without findings: %v", err)
	}
}
