package visible

import (
	"context"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/serve"
)

// Writer is a writer whose receipts show of other items what the caller may see.
type Writer struct {
	serve.Writer
	Reader Reader
}

// Submit implements [serve.Writer]. What was written stays written: if references cannot be looked up, it hides them.
func (w Writer) Submit(ctx context.Context, submission domain.Submission) (domain.Receipt, error) {
	done, err := w.Writer.Submit(ctx, submission)
	if err != nil || done.Knowledge == nil {
		return done, err
	}
	k := *done.Knowledge // which others may read
	k.Votes = nil
	if done.Knowledge = &k; w.Reader.Hide(ctx, submission.By, &k) != nil {
		none := func(string) bool { return false }
		k.HideReferences(domain.Sight{Item: none, Event: none})
	}
	return done, nil
}
