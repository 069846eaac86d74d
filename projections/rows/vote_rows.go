package rows

import (
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// VoteRow is a vote that counts.
type VoteRow struct {
	bun.BaseModel `bun:"table:votes,alias:v"`

	Tenant  string        `bun:"tenant"`
	ID      string        `bun:"id"`
	EventID string        `bun:"event_id"`
	Voter   string        `bun:"voter"`
	Ballot  string        `bun:"ballot"`
	Verdict string        `bun:"verdict"`
	TraceID string        `bun:"trace_id"`
	Query   string        `bun:"query"`
	Outcome string        `bun:"outcome"`
	At      database.Time `bun:"at"`
}

func VoteRowOf(tenant, id string, v domain.Vote) VoteRow {
	return VoteRow{
		Tenant: tenant, ID: id, EventID: v.EventID, Voter: string(v.Voter), Ballot: v.Ballot,
		Verdict: string(v.Verdict), TraceID: v.TraceID, Query: v.Query, Outcome: v.Outcome, At: database.At(v.At),
	}
}

func (r *VoteRow) Vote() domain.Vote {
	return domain.Vote{
		EventID: r.EventID, Voter: domain.Entity(r.Voter), Ballot: r.Ballot, Verdict: domain.Verdict(r.Verdict),
		TraceID: r.TraceID, Query: r.Query, Outcome: r.Outcome, At: r.At.Time,
	}
}

// Values are the columns in the order of [VotesColumns].
func (r VoteRow) Values() []any {
	return []any{r.Tenant, r.ID, r.EventID, r.Voter, r.Ballot, r.Verdict, r.TraceID, r.Query, r.Outcome, r.At}
}

// ReportRow is a report of staleness since the last confirmation without an end.
type ReportRow struct {
	bun.BaseModel `bun:"table:reports,alias:r"`

	Tenant    string        `bun:"tenant"`
	ID        string        `bun:"id"`
	Reporter  string        `bun:"reporter"`
	EventID   string        `bun:"event_id"`
	Reason    string        `bun:"reason"`
	At        database.Time `bun:"at"`
	Suspended bool          `bun:"suspended"`
}

func ReportRowOf(tenant, id string, r domain.Report) ReportRow {
	return ReportRow{
		Tenant: tenant, ID: id, Reporter: string(r.Reporter), EventID: r.EventID, Reason: r.Reason, At: database.At(r.At),
		Suspended: r.Suspended,
	}
}

func (r *ReportRow) Report() domain.Report {
	return domain.Report{
		EventID: r.EventID, Reporter: domain.Entity(r.Reporter), Reason: r.Reason, At: r.At.Time,
		Suspended: r.Suspended,
	}
}

// Values are the columns in the order of [ReportsColumns].
func (r ReportRow) Values() []any {
	return []any{r.Tenant, r.ID, r.Reporter, r.EventID, r.Reason, r.At, r.Suspended}
}
