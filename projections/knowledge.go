package projections

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/embedding"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/text"
)

// Settings are what a knowledge projection is built with. The zero value serves.
type Settings struct {
	// Policy turns voices into confidence in the first version of a database, and is known besides
	// [domain.ConfidencePolicies]. Default: [domain.DefaultConfidence].
	Policy domain.ConfidencePolicy
	// Tokenizers are those of versions that this program can search and write; versions that are built
	// from now on have the first. Default: [text.Tokenizers].
	Tokenizers []text.Tokenizer
	// Embedder turns text into vectors. Default: the built-in one, which needs no model.
	Embedder embedding.Embedder
	// Former is the embedder that was configured before, for questions in the space of its vectors until
	// that of Embedder is complete. Default: none; the built-in one is always at hand.
	Previous embedding.Embedder
	// Logger for what happens in the background. Default: discard.
	Logger *slog.Logger
	// Now is the clock of the catalogue, and by which confirmations expire. Default: [time.Now].
	Now func() time.Time
}

func (s Settings) withDefaults() Settings {
	if s.Policy.Confidence == nil {
		s.Policy = domain.DefaultConfidence()
	}
	if len(s.Tokenizers) == 0 {
		s.Tokenizers = text.Tokenizers()
	}
	if s.Embedder == nil {
		s.Embedder = embedding.Builtin{}
	}
	if s.Logger == nil {
		s.Logger = slog.New(slog.DiscardHandler)
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	return s
}

// Knowledge is the projection that answers what is known. It is safe for concurrent use.
type Knowledge struct {
	db         *database.DB
	reads      bun.IDB // the database, or a snapshot of it
	versionSet *atomic.Pointer[versionSet]
	policies   map[string]domain.ConfidencePolicy // by name
	tokenizers []text.Tokenizer                   // that of versions that are built from now on first
	models     *embeddingModels
	meaning    *Meaning // of the space that searches are made in; outside of a request, the configured one
	scopeSizes *scopeSizes
	log        *slog.Logger
	now        func() time.Time

	unreadable *atomic.Int64 // the version that was read last of those with rows that cannot be read

	packedRows, compactItems int
	compactIdle              time.Duration
	postings                 int // of a term in a scope that a search reads
	backlog                  *backlog
	gathered                 gathering

	past    *atomic.Pointer[pastTables] // whose items were whose, and whom they reached; nil before [OpenPast]
	history *atomic.Pointer[events.Log] // in which is recorded what happens to the projection; nil without a Rebuilder
}

// Open finds the active version of the projection in a migrated database, or creates the first.
func Open(ctx context.Context, db *database.DB, settings Settings) (*Knowledge, error) {
	settings = settings.withDefaults()
	first := map[string]string{"confidence": settings.Policy.Name, "tokenizer": settings.Tokenizers[0].Version}
	err := ensureActive(ctx, db, first, database.At(settings.Now()))
	if err != nil {
		return nil, err
	}
	p := newKnowledge(db, settings)
	if err := p.look(ctx, db); err != nil {
		return nil, err
	}
	embedders := []embedding.Embedder{settings.Embedder}
	if settings.Previous != nil {
		embedders = append(embedders, settings.Previous)
	}
	if p.models, err = openEmbeddingModels(ctx, p, embedders...); err != nil {
		return nil, err
	}
	p.meaning = p.models.wanted
	return p, nil
}

// newKnowledge is the projection before it has looked at the catalogue.
func newKnowledge(db *database.DB, settings Settings) *Knowledge {
	p := &Knowledge{
		db: db, reads: db.DB, versionSet: &atomic.Pointer[versionSet]{}, unreadable: &atomic.Int64{},
		policies: map[string]domain.ConfidencePolicy{}, tokenizers: settings.Tokenizers,
		log: settings.Logger, now: settings.Now, packedRows: defaultPackedRows, compactItems: defaultCompactItems, compactIdle: defaultCompactIdle, postings: maxPostings,
		backlog: &backlog{}, gathered: gathering{gatheredBelow, gatheredSeen, gatheredBytes}, history: &atomic.Pointer[events.Log]{}, past: &atomic.Pointer[pastTables]{}, scopeSizes: newScopeSizes(),
	}
	for _, policy := range append(domain.ConfidencePolicies(), settings.Policy) {
		p.policies[policy.Name] = policy
	}
	return p
}

// Policy computes confidence as the version does that is active at that moment: what is replayed from the
// log has the confidence that readers see. Its name is that of the active version's policy now.
func (p *Knowledge) Policy() domain.ConfidencePolicy {
	return domain.ConfidencePolicy{
		Name: p.active().policy.Name,
		Confidence: func(helpful, harmful, reporters int) float64 {
			return p.active().policy.Confidence(helpful, harmful, reporters)
		},
	}
}

// Meaning is the background projection of the configured embedder's vectors. Searches use it as soon as it
// has everything, see [Knowledge.TendSpaces].
func (p *Knowledge) Meaning() *Meaning { return p.meaning }

// Find reads one item, whatever its status: who may see it is for the caller to decide. The error
// matches [domain.ErrNotFound] if it was never remembered, and [domain.ErrBroken] if its row cannot be read.
func (p *Knowledge) Find(ctx context.Context, tenant, id string) (*domain.Knowledge, error) {
	if err := p.refresh(ctx); err != nil {
		return nil, err
	}
	k, err := p.readOne(ctx, p.db.NewSelect().Model((*row)(nil)).ModelTableExpr("? AS k", p.tables().knowledge).
		Where("tenant = ?", tenant).Where("id = ?", id))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, domain.NotFound(id)
	}
	if err != nil {
		return nil, p.failed(ctx, "read knowledge", err)
	}
	return k, nil
}

// maxHistory is how many uses an item shows for, and how many against it.
const maxHistory = 50

// Feedback reads the newest 50 voices for and against an item, those of its baseline included.
func (p *Knowledge) Feedback(ctx context.Context, tenant, id string) (domain.Feedback, error) {
	if err := p.refresh(ctx); err != nil {
		return domain.Feedback{}, err
	}
	p = p.pinned()
	k, err := p.Find(ctx, tenant, id)
	if err != nil {
		return domain.Feedback{}, err
	}
	helpful, err := p.uses(ctx, tenant, id, domain.Helpful, k.Baseline.HelpfulHistory)
	if err != nil {
		return domain.Feedback{}, err
	}
	harmful, err := p.uses(ctx, tenant, id, domain.Harmful, k.Baseline.HarmfulHistory)
	return domain.Feedback{Helpful: helpful, Harmful: harmful}, err
}

func (p *Knowledge) uses(ctx context.Context, tenant, id string, verdict domain.Verdict, older []domain.Use) ([]domain.Use, error) {
	var rows []voteRow
	err := p.db.NewSelect().Model(&rows).ModelTableExpr("? AS v", p.tables().votes).
		Where("tenant = ?", tenant).Where("id = ?", id).Where("verdict = ?", verdict).
		OrderExpr("at DESC, event_id DESC").Limit(maxHistory).Scan(ctx)
	if err != nil {
		return nil, p.failed(ctx, "read votes", err)
	}
	list := make([]domain.Use, 0, len(rows)+len(older))
	for i := range rows {
		v := rows[i].vote()
		list = append(list, domain.Use{Query: v.Query, TraceID: v.TraceID, Outcome: v.Outcome, By: v.Voter, At: v.At})
	}
	list = append(list, older...)
	return list[:min(len(list), maxHistory)], nil
}

// failed says what a database error means to whoever asked.
func (p *Knowledge) failed(ctx context.Context, what string, err error) error {
	return fmt.Errorf("%s: %w", what, withRemedy(database.Classify(ctx, err)))
}

// withRemedy says to callers what to do where the database is away, takes no writes or has no room on its disk, or the server's
// role lacks a privilege.
func withRemedy(err error) error {
	if denied := database.Denied(err); denied != "" {
		return fmt.Errorf("%w: %w", domain.Unprivileged(denied), err)
	}
	if errors.Is(err, database.ErrFull) {
		return fmt.Errorf("%w: %w", domain.Full("changed"), err)
	}
	if errors.Is(err, database.ErrReadOnly) {
		return fmt.Errorf("%w: %w", domain.ReadOnly("changed"), err)
	}
	if errors.Is(err, database.ErrUnavailable) {
		return fmt.Errorf("%w: %w", domain.ErrUnavailable, err)
	}
	return err
}
