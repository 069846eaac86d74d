package viking

import (
	"context"

	"github.com/annals-kb/annals/domain"
)

// Writer takes commands to the log.
type Writer interface {
	// Submit returns the receipt, or an error that matches one of domain's sentinels.
	Submit(ctx context.Context, submission domain.Submission) (domain.Receipt, error)
	// SubmitAll answers each submission, in order; one failure never spoils the others.
	SubmitAll(ctx context.Context, submissions []domain.Submission) []domain.Result
}
