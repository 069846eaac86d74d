package receipts

import (
	"context"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/projections/receipts"
)

type verifyInput struct {
	Since serve.Moment `query:"since" doc:"Only receipts that were given at or after this time or date."`
	Until serve.Moment `query:"until" doc:"Only receipts that were given before it."`
}

// mostFaults limits the faults in an answer.
const mostFaults = 100

func (s room) verify(
	ctx context.Context, c *serve.Call, in *verifyInput,
) (*serve.Output[api.ReceiptVerification], error) {
	of := receipts.Verification{Tenant: c.Principal.Tenant}
	of.Since, of.Until = serve.Between(&c.Found, "since", in.Since, "until", in.Until)
	if err := c.Found.Err(); err != nil {
		return nil, err
	}
	if !c.Principal.SeesAll() {
		return nil, domain.Refuse(domain.ErrForbidden, "only auditors and admins verify receipts").
			WithFix("show your own: annals receipt show RECEIPT says whether it is as it was given")
	}
	report, err := s.Receipts.Verify(ctx, of)
	return &serve.Output[api.ReceiptVerification]{Body: verificationOf(report)}, err
}

func verificationOf(r receipts.Report) api.ReceiptVerification {
	return api.ReceiptVerification{
		Verified: len(r.Faults) == 0, Receipts: r.Receipts, Sealed: r.Sealed, Expired: r.Expired, Count: len(r.Faults),
		Faults: serve.Map(r.Faults[:min(len(r.Faults), mostFaults)], func(f receipts.Fault) api.ReceiptFault {
			return api.ReceiptFault{Receipt: f.Receipt, Kind: f.Kind, Detail: f.Detail}
		}),
		Gaps: serve.Map(r.Gaps, func(g receipts.Gap) api.ReceiptGap {
			name := func(sequence int64) string { return receipts.Receipt{Run: g.Run, Sequence: sequence}.ID() }
			out := api.ReceiptGap{First: name(g.First), After: serve.Time(g.After), Server: g.Server, Detail: g.String()}
			if g.Last > 0 {
				out.Last = name(g.Last)
			}
			return out
		}),
	}
}
