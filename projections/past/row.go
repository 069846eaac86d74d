package past

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

// Forever is the end of the validity interval of a row that still holds.
const Forever = math.MaxInt64

// itemRow is what an item was for some time, without its texts.
type itemRow struct {
	bun.BaseModel `bun:"table:past,alias:k"`

	Number   int64  `bun:"number"`
	Since    int64  `bun:"since"`
	ID       string `bun:"id"`
	Version  int64  `bun:"version"`
	Revision int64  `bun:"revision"`
	domain.Class
	Owner string `bun:"owner"`
	domain.Standing
	TraceID    string         `bun:"trace_id"`
	Scopes     []domain.Scope `bun:"scopes"`
	CreatedAt  database.Time  `bun:"created_at"`
	UpdatedAt  database.Time  `bun:"updated_at"`
	OccurredAt database.Time  `bun:"occurred_at"`
	TaskAt     int64          `bun:"task_at"`
	ContentAt  int64          `bun:"content_at"`
	AbstractAt int64          `bun:"abstract_at"`
	OverviewAt int64          `bun:"overview_at"`
	TagsAt     int64          `bun:"tags_at"`
	MetaAt     int64          `bun:"meta_at"`
	URIAt      int64          `bun:"uri_at"`
	TagBits    int64          `bun:"tag_bits"`

	Today   string `bun:"today"`   // its status now
	Reached int64  `bun:"reached"` // the projection's position

	// Its votes, reports and confirmation.
	CountsSince       int64           `bun:"counts_since"`
	CountsVersion     int64           `bun:"counts_version"`
	Helpful           int             `bun:"helpful"`
	Harmful           int             `bun:"harmful"`
	HelpfulLacks      int64           `bun:"helpful_lacks"`
	HarmfulLacks      int64           `bun:"harmful_lacks"`
	StaleReporters    int             `bun:"reporters"`
	ReportedBy        []domain.Entity `bun:"reported_by"`
	StaleSince        database.Time   `bun:"stale_since"`
	ReasonAt          int64           `bun:"reason_at"`
	ConfirmedAt       database.Time   `bun:"confirmed_at"`
	ConfirmUntil      database.Time   `bun:"confirm_until"`
	Suspended         int             `bun:"suspended"`
	SuspendedSince    database.Time   `bun:"suspended_since"`
	SuspendedReasonAt int64           `bun:"suspended_reason_at"`
}

// itemRowColumns are the columns of an itemRow, from the tables k and c.
var itemRowColumns = "k." + strings.Join(rows.StateColumns, ", k.") + `,
	k.number, k.since, k.id, k.version, k.revision, k.owner, k.trace_id, k.scopes,
	k.created_at, k.updated_at, k.occurred_at,
	k.task_at, k.content_at, k.abstract_at, k.overview_at, k.tags_at, k.meta_at, k.uri_at, k.tag_bits,
	c.since AS counts_since, c.version AS counts_version, c.helpful, c.harmful, c.helpful_lacks, c.harmful_lacks,
	c.reporters, c.reported_by,
	c.stale_since, c.reason_at, c.confirmed_at, c.confirm_until, c.suspended, c.suspended_since, c.suspended_reason_at`

// knowledge is the item without its texts and its votes.
func (r *itemRow) knowledge(policy domain.ConfidencePolicy) *domain.Knowledge {
	k := &domain.Knowledge{
		ID: r.ID, Number: r.Number, Class: r.Class, Standing: r.Standing,
		Scopes: r.Scopes, Owner: domain.Entity(r.Owner), Source: domain.Source{TraceID: r.TraceID},
		Helpful: r.Helpful, Harmful: r.Harmful, Voices: domain.Voices{Helpful: r.HelpfulLacks, Harmful: r.HarmfulLacks},
		Stale:       domain.Staleness{Reporters: r.StaleReporters, Since: r.StaleSince.Time},
		ConfirmedAt: r.ConfirmedAt.Time, ConfirmUntil: r.ConfirmUntil.Time,
		Suspended: domain.Staleness{Reporters: r.Suspended, Since: r.SuspendedSince.Time},
		Revision:  r.Revision, Version: max(r.Version, r.CountsVersion), Position: max(r.Since, r.CountsSince),
		CreatedAt: r.CreatedAt.Time, UpdatedAt: r.UpdatedAt.Time, OccurredAt: r.OccurredAt.Time,
	}
	k.Rate(policy)
	for i, reporter := range r.ReportedBy {
		if k.Reports == nil {
			k.Reports = map[domain.Entity]domain.Report{}
		}
		k.Reports[reporter] = domain.Report{Reporter: reporter, Suspended: i >= r.StaleReporters}
	}
	return k
}

func (r *itemRow) positions() textPositions {
	return textPositions{
		task: r.TaskAt, content: r.ContentAt, abstract: r.AbstractAt, overview: r.OverviewAt,
		tags: r.TagsAt, meta: r.MetaAt, uri: r.URIAt, reason: r.ReasonAt, suspended: r.SuspendedReasonAt,
	}
}

// The columns of each table, in the order of the values below.
var (
	itemColumns = slices.Concat(strings.Fields(`tenant number since until id version revision`), rows.StateColumns,
		strings.Fields(`owner visibility trace_id scopes created_at updated_at occurred_at
			task_at content_at abstract_at overview_at tags_at meta_at uri_at tag_bits`))
	scopeColumns = strings.Fields(`tenant scope number since until`)
	countColumns = strings.Fields(`tenant number since version helpful harmful helpful_lacks harmful_lacks reporters reported_by stale_since
		reason_at confirmed_at confirm_until suspended suspended_since suspended_reason_at`)
	wordColumns  = strings.Fields(`tenant number since until words bag`)
	pieceColumns = strings.Fields(`tenant number since piece text_hash`)
)

// itemValues are the values of an item's row that holds from the position of its newest event on.
func itemValues(tenant string, k *domain.Knowledge, p textPositions, tags tagSignature, until int64) ([]any, error) {
	scopes, err := json.Marshal(k.Scopes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.ID, err)
	}
	state := []any{tenant, k.Number, k.Position, until, k.ID, k.Version, k.Revision}
	row := rows.RowOf(tenant, k, 0)
	what, err := row.Values(rows.StateColumns)
	return slices.Concat(state, what, []any{
		string(k.Owner), string(k.Visibility()), k.Source.TraceID, string(scopes),
		database.At(k.CreatedAt), database.At(k.UpdatedAt), database.At(k.OccurredAt),
		p.task, p.content, p.abstract, p.overview, p.tags, p.meta, p.uri, tags.column(),
	}), err
}

// countValues are the counts of an item that hold from the position of its newest event on.
func countValues(tenant string, k *domain.Knowledge, p textPositions) ([]any, error) {
	reporters, suspended := make([]domain.Entity, 0, len(k.Reports)), []domain.Entity(nil)
	for reporter, report := range k.Reports {
		if report.Suspended {
			suspended = append(suspended, reporter)
		} else {
			reporters = append(reporters, reporter)
		}
	}
	slices.Sort(reporters)
	slices.Sort(suspended)
	reportedBy, err := json.Marshal(append(reporters, suspended...))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.ID, err)
	}
	return []any{
		tenant, k.Number, k.Position, k.Version, k.Helpful, k.Harmful, k.Voices.Helpful, k.Voices.Harmful,
		k.Stale.Reporters, string(reportedBy),
		database.At(k.Stale.Since), p.reason, database.At(k.ConfirmedAt), database.At(k.ConfirmUntil),
		k.Suspended.Reporters, database.At(k.Suspended.Since), p.suspended,
	}, nil
}
