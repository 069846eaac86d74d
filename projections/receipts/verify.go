package receipts

import (
	"context"
	"time"
)

// The kinds of faults.
const (
	Changed  = "changed"  // it is not as it was sealed
	Missing  = "missing"  // it was sealed, and is gone
	Added    = "added"    // it was not there when its minute was sealed
	Answered = "answered" // the log does not say what was answered
	Asked    = "asked"    // the question is not the one that was asked
	Indexed  = "indexed"  // lists cannot find it
	Damaged  = "damaged"  // its page cannot be read
	Unsealed = "unsealed" // the event that sealed it is gone or changed
)

// Fault is something that was done to receipts.
type Fault struct {
	Receipt string // its id, or the first of several
	Kind    string
	Detail  string
}

func (f Fault) String() string { return f.Receipt + " " + f.Kind + ": " + f.Detail }

// Report is the result of a verification.
type Report struct {
	Receipts int64 // that were compared
	Sealed   int64 // of those
	Expired  int64 // sealed receipts that are no longer kept
	Faults   []Fault
	Gaps     []Gap
}

// Verification says which receipts of a tenant to verify.
type Verification struct {
	Tenant       string
	Since, Until time.Time // zero for all; by the times of the pages that hold them
}

// Verify compares receipts with the events that sealed them and with the log. It names those that were changed,
// removed or added since, and answers that the log does not have. Who can rewrite the log, too, is found by its proofs.
func (r *Receipts) Verify(ctx context.Context, of Verification) (Report, error) {
	v := verifier{Receipts: r, of: of, streams: map[int64]itemStream{}}
	var err error
	if v.report.Gaps, err = r.Gaps(ctx, of.Tenant); err != nil {
		return v.report, err
	}
	runs, err := v.runs(ctx)
	if err != nil {
		return v.report, err
	}
	for _, run := range runs {
		if err := v.run(ctx, run); err != nil {
			return v.report, err
		}
	}
	return v.report, nil
}
