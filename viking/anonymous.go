package viking

import (
	"context"
	"errors"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// anonymous is a writer whose refusals do not name the item: callers know it by its URI, and never sent its id.
type anonymous struct{ Writer }

// Submit implements [Writer].
func (a anonymous) Submit(ctx context.Context, submission domain.Submission) (domain.Receipt, error) {
	receipt, err := a.Writer.Submit(ctx, submission)
	return receipt, withoutID(err, submission)
}

// SubmitAll implements [Writer].
func (a anonymous) SubmitAll(ctx context.Context, submissions []domain.Submission) []domain.Result {
	results := a.Writer.SubmitAll(ctx, submissions)
	for i := range results {
		results[i].Err = withoutID(results[i].Err, submissions[i])
	}
	return results
}

func withoutID(err error, submission domain.Submission) error {
	refusal, is := errors.AsType[*domain.Refusal](err)
	id, isItem := strings.CutPrefix(submission.Command.Stream(), domain.KnowledgeStream(""))
	if !is || !isItem {
		return err
	}
	unnamed := strings.NewReplacer(id, "the item")
	return &domain.Refusal{Kind: refusal.Kind, Detail: unnamed.Replace(refusal.Detail), Fix: unnamed.Replace(refusal.Fix)}
}
