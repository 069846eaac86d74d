package viking_test

import (
	"context"
	"net/http"
	"strconv"
	"testing"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/viking"
)

// rival is a writer before whom somebody else changes every item that is to be revised, each as often as there is patience.
type rival struct {
	viking.Writer
	patience int
	changes  map[string]int // by item
}

func (r *rival) Submit(ctx context.Context, submission domain.Submission) (domain.Receipt, error) {
	if revise, is := submission.Command.(domain.Revise); is && r.changes[revise.ID] < r.patience {
		r.changes[revise.ID]++
		task := strconv.Itoa(r.changes[revise.ID])
		faster := submission
		faster.Request = nil
		faster.Command = domain.Revise{Target: domain.Target{By: revise.By, ID: revise.ID}, Changes: domain.Revised{Task: &task}}
		if receipt, err := r.Writer.Submit(ctx, faster); err != nil {
			return receipt, err
		}
	}
	return r.Writer.Submit(ctx, submission)
}

func TestWhoIsOvertakenTriesAgainAndGivesUpInTheEnd(t *testing.T) {
	for _, c := range []struct{ patience, status int }{{3, http.StatusOK}, {1000, http.StatusConflict}} {
		t.Run(strconv.Itoa(c.status), func(t *testing.T) {
			each(t, open, func(_ *testing.T, w *world) {
				for i, change := range []struct {
					path string
					body object
				}{
					{"/api/v1/content/write", object{"uri": "viking://resources/0.md", "content": " and more", "mode": "append"}},
					{"/api/v1/content/set_tags", object{"uri": "viking://resources/1.md", "tags": []string{"a=b"}, "mode": "append"}},
					{"/api/v1/fs/mv", object{"from_uri": "viking://resources/2.md", "to_uri": "viking://resources/moved.md"}},
				} {
					if i > 0 && c.status == http.StatusConflict {
						break // a hundred tries are slow
					}
					w.write("viking://resources/"+strconv.Itoa(i)+".md", "something")
					a := w.ask("POST", change.path, change.body).want(c.status)
					if c.status == http.StatusConflict {
						a.refused(c.status, "CONFLICT")
					}
				}
			}, func(cfg *viking.Config) {
				cfg.Writer = &rival{Writer: cfg.Writer, patience: c.patience, changes: map[string]int{}}
			})
		})
	}
}
