package rows

import (
	"encoding/json"
	"slices"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// Row is an item in the knowledge table.
type Row struct {
	bun.BaseModel `bun:"table:knowledge,alias:k"`

	Tenant string `bun:"tenant"`
	ID     string `bun:"id"`
	Number int64  `bun:"number"`
	domain.Class
	Owner      string `bun:"owner"`
	Visibility string `bun:"visibility"`
	domain.Standing
	URI                string              `bun:"uri"`
	Task               string              `bun:"task"`
	Content            string              `bun:"content"`
	Abstract           string              `bun:"abstract"`
	Overview           string              `bun:"overview"`
	Tags               map[string][]string `bun:"tags"`
	Meta               *string             `bun:"meta"`
	Source             domain.Source       `bun:"source"`
	TraceID            string              `bun:"trace_id"`
	Scopes             []domain.Scope      `bun:"scopes"`
	Baseline           Baseline            `bun:"baseline"`
	DerivedFrom        []string            `bun:"derived_from"`
	Relations          []Relation          `bun:"relations"`
	Words              int                 `bun:"words"`
	Helpful            int                 `bun:"helpful"`
	Harmful            int                 `bun:"harmful"`
	Confidence         float64             `bun:"confidence"`
	StaleReporters     int                 `bun:"stale_reporters"`
	StaleSince         database.Time       `bun:"stale_since"`
	StaleReason        string              `bun:"stale_reason"`
	ConfirmedAt        database.Time       `bun:"confirmed_at"`
	ConfirmUntil       database.Time       `bun:"confirm_until"`
	SuspendedReporters int                 `bun:"suspended_reporters"`
	SuspendedSince     database.Time       `bun:"suspended_since"`
	SuspendedReason    string              `bun:"suspended_reason"`
	ExpiredConfidence  float64             `bun:"expired_confidence"`
	Revision           int64               `bun:"revision"`
	Version            int64               `bun:"version"`
	Position           int64               `bun:"position"`
	CreatedAt          database.Time       `bun:"created_at"`
	UpdatedAt          database.Time       `bun:"updated_at"`
	OccurredAt         database.Time       `bun:"occurred_at"`

	Disputed bool `bun:"disputed,scanonly"`

	Broken bool `bun:"-"` // its row cannot be read: only the columns before the unreadable one are set
}

// Baseline and Relation are stored as JSON in a row, like sources. Their shapes may change with any rebuild.
type Baseline struct {
	Helpful        int           `json:"helpful"`
	Harmful        int           `json:"harmful"`
	Confidence     float64       `json:"confidence"`
	HelpfulHistory []domain.Use  `json:"helpful_history,omitempty"`
	HarmfulHistory []domain.Use  `json:"harmful_history,omitempty"`
	Voices         domain.Voices `json:"voices,omitzero"` // of the votes since
}

type Relation struct {
	To     string        `json:"to"`
	Reason string        `json:"reason,omitempty"`
	At     database.Time `json:"at"`
}

// RowOf turns an item's state into its row. words is the length of its text as the index counts it.
func RowOf(tenant string, k *domain.Knowledge, words int) Row {
	return Row{
		Tenant: tenant, ID: k.ID, Number: k.Number,
		Class: k.Class, Owner: string(k.Owner), Visibility: string(k.Visibility()),
		Standing: k.Standing, URI: k.Text.URI, Task: k.Text.Task, Content: k.Text.Content,
		Abstract: k.Text.Abstract, Overview: k.Text.Overview,
		Tags: orEmpty(k.Text.Tags), Meta: metaOf(k.Text.Meta),
		Source: k.Source, TraceID: k.Source.TraceID, Scopes: k.Scopes,
		Baseline: BaselineOf(k), DerivedFrom: nonNil(k.DerivedFrom), Relations: RelationsOf(k.Relations),
		Words: words, Helpful: k.Helpful, Harmful: k.Harmful, Confidence: k.Confidence,
		StaleReporters: k.Stale.Reporters, StaleSince: database.At(k.Stale.Since), StaleReason: k.Stale.Reason,
		ConfirmedAt: database.At(k.ConfirmedAt), ConfirmUntil: database.At(k.ConfirmUntil),
		SuspendedReporters: k.Suspended.Reporters, SuspendedSince: database.At(k.Suspended.Since),
		SuspendedReason:   k.Suspended.Reason,
		ExpiredConfidence: k.ExpiredConfidence,
		Revision:          k.Revision, Version: k.Version, Position: k.Position,
		CreatedAt: database.At(k.CreatedAt), UpdatedAt: database.At(k.UpdatedAt), OccurredAt: database.At(k.OccurredAt),
	}
}

func IsLive(k *domain.Knowledge) bool {
	return k.Status == domain.Active || k.Status == domain.IsSuperseded
}

// Knowledge turns a row back into state, without votes and reports.
func (r *Row) Knowledge() *domain.Knowledge {
	k := &domain.Knowledge{
		ID: r.ID, Number: r.Number,
		Class: r.Class, Standing: r.Standing, Scopes: r.Scopes, Owner: domain.Entity(r.Owner), Source: r.Source,
		Text: domain.Text{
			Task: r.Task, Content: r.Content, Abstract: r.Abstract, Overview: r.Overview, URI: r.URI,
		},
		Baseline: domain.Eval{
			Helpful: r.Baseline.Helpful, Harmful: r.Baseline.Harmful, Confidence: r.Baseline.Confidence,
			HelpfulHistory: r.Baseline.HelpfulHistory, HarmfulHistory: r.Baseline.HarmfulHistory,
		},
		Helpful: r.Helpful, Harmful: r.Harmful, Confidence: r.Confidence, Voices: r.Baseline.Voices,
		Stale:       domain.Staleness{Reporters: r.StaleReporters, Since: r.StaleSince.Time, Reason: r.StaleReason},
		ConfirmedAt: r.ConfirmedAt.Time, ConfirmUntil: r.ConfirmUntil.Time,
		Suspended: domain.Staleness{
			Reporters: r.SuspendedReporters, Since: r.SuspendedSince.Time,
			Reason: r.SuspendedReason,
		},
		ExpiredConfidence: r.ExpiredConfidence, Disputed: r.Disputed,
		Revision: r.Revision, Version: r.Version, Position: r.Position,
		CreatedAt: r.CreatedAt.Time, UpdatedAt: r.UpdatedAt.Time, OccurredAt: r.OccurredAt.Time,
	}
	if len(r.Tags) > 0 {
		k.Text.Tags = r.Tags
	}
	if r.Meta != nil {
		k.Text.Meta = json.RawMessage(*r.Meta)
	}
	if len(r.DerivedFrom) > 0 {
		k.DerivedFrom = r.DerivedFrom
	}
	for _, to := range r.Relations {
		k.Relations = append(k.Relations, domain.Relation{To: to.To, Reason: to.Reason, At: to.At.Time})
	}
	return k
}

func metaOf(meta json.RawMessage) *string {
	if len(meta) == 0 {
		return nil
	}
	text := string(meta)
	return &text
}

func orEmpty(tags domain.Tags) map[string][]string {
	if tags == nil {
		return map[string][]string{}
	}
	return tags
}

func nonNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func RelationsOf(list []domain.Relation) []Relation {
	rows := make([]Relation, len(list))
	for i, r := range list {
		rows[i] = Relation{To: r.To, Reason: r.Reason, At: database.At(r.At)}
	}
	return rows
}

func BaselineOf(k *domain.Knowledge) Baseline {
	e := k.Baseline
	return Baseline{e.Helpful, e.Harmful, e.Confidence, e.HelpfulHistory, e.HarmfulHistory, k.Voices}
}

// StateColumns are the columns of what an item is and what was decided about it, in the knowledge table and in that of
// the past: texts, then flags. Rows embed [domain.Class] and [domain.Standing], whose fields have these names.
var (
	StateColumns = slices.Concat(texts, flags)

	texts = []string{"type", "context_type", "category", "polarity", "media", "status", "superseded_by"}
	flags = []string{"held"}
)

// StateValues are the values of these columns.
func StateValues(c domain.Class, s domain.Standing) []any {
	return []any{
		string(c.Type), string(c.ContextType), string(c.Category), string(c.Polarity), string(c.Media), string(s.Status),
		s.SupersededBy, s.Held,
	}
}

// The columns of each table, in the order in which they are written.
var (
	KnowledgeColumns = slices.Concat([]string{"tenant", "id", "number"}, StateColumns, []string{
		"owner", "visibility", "uri", "task", "content", "abstract", "overview",
		"tags", "meta", "source", "trace_id", "scopes", "baseline", "derived_from", "relations", "words", "helpful",
		"harmful", "confidence", "stale_reporters", "stale_since", "stale_reason", "confirmed_at",
		"confirm_until", "suspended_reporters", "suspended_since", "suspended_reason", "expired_confidence", "revision",
		"version", "position", "created_at", "updated_at", "occurred_at",
	})
	PostingsColumns = []string{"tenant", "term", "block", "data"}
	ChangesColumns  = []string{"tenant", "number", "version", "was", "now"}
	VotesColumns    = []string{
		"tenant", "id", "event_id", "voter", "ballot", "verdict", "trace_id", "query",
		"outcome", "at",
	}
	ReportsColumns = []string{"tenant", "id", "reporter", "event_id", "reason", "at", "suspended"}
)

// Values are a row's columns in the order of knowledgeColumns.
func (r *Row) Values() ([]any, error) {
	var encoded [6]string
	for i, value := range []any{r.Tags, r.Source, r.Scopes, r.Baseline, r.DerivedFrom, r.Relations} {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		encoded[i] = string(text)
	}
	return slices.Concat([]any{r.Tenant, r.ID, r.Number}, StateValues(r.Class, r.Standing), []any{
		r.Owner, r.Visibility, r.URI, r.Task, r.Content, r.Abstract, r.Overview,
		encoded[0], r.Meta, encoded[1], r.TraceID, encoded[2], encoded[3], encoded[4], encoded[5], r.Words, r.Helpful,
		r.Harmful, r.Confidence, r.StaleReporters, r.StaleSince, r.StaleReason, r.ConfirmedAt,
		r.ConfirmUntil, r.SuspendedReporters, r.SuspendedSince, r.SuspendedReason, r.ExpiredConfidence, r.Revision,
		r.Version, r.Position, r.CreatedAt, r.UpdatedAt, r.OccurredAt,
	}), nil
}
