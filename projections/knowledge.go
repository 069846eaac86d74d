package projections

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections/browse"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/embedding"
	"github.com/annals-kb/annals/projections/erasure"
	"github.com/annals-kb/annals/projections/knowledge"
	"github.com/annals-kb/annals/projections/past"
	"github.com/annals-kb/annals/projections/rebuild"
	"github.com/annals-kb/annals/projections/review"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/search"
	"github.com/annals-kb/annals/projections/vectors"
	"github.com/annals-kb/annals/projections/words"
)

// Settings are what a knowledge projection is built with. The zero value serves.
type Settings struct {
	// Policy turns votes into confidence in the first version of a database. It is known in addition to
	// [domain.ConfidencePolicies]. Default: [domain.DefaultConfidence].
	Policy domain.ConfidencePolicy
	// Tokenizers are those of the versions that this program can search and write. New versions are built with the
	// first. Default: [text.Tokenizers].
	Tokenizers []text.Tokenizer
	// Embedder turns text into vectors. Default: the built-in one, which needs no model.
	Embedder embedding.Embedder
	// Previous is the embedder that was configured before. It embeds questions until every vector of Embedder is
	// computed. Default: none; the built-in one is always known.
	Previous embedding.Embedder
	// SketchMemory is how many bytes the sketches of vectors may take in memory. Default: 512 MiB.
	SketchMemory int
	// Logger for what happens in the background. Default: discard.
	Logger *slog.Logger
	// Now is the clock of the catalogue. Confirmations expire by it. Default: [time.Now].
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

func (s Settings) catalogue(db *database.DB) *catalogue.Catalogue {
	return catalogue.New(db, s.Logger, s.Now, append(domain.ConfidencePolicies(), s.Policy), s.Tokenizers)
}

// Knowledge is the projection that answers what is known, with those that follow from it. It is safe for concurrent
// use.
type Knowledge struct {
	Projection *knowledge.Projection
	Browser    *browse.Browser
	Searcher   *search.Searcher
	Indexer    *words.Indexer
	Versions   *rebuild.Versions
	Models     *vectors.Models
	Files      erasure.Files

	catalogue *catalogue.Catalogue
}

// Open finds the active version of the projection in a migrated database, or creates the first.
func Open(ctx context.Context, db *database.DB, settings Settings) (*Knowledge, error) {
	settings = settings.withDefaults()
	first := map[string]string{
		"confidence": settings.Policy.Name, "tokenizer": settings.Tokenizers[0].Version,
		catalogue.SettingForm: rows.Form,
	}
	err := catalogue.EnsureActive(ctx, db, first, database.At(settings.Now()))
	if err != nil {
		return nil, err
	}
	c := settings.catalogue(db)
	if err := c.Reload(ctx, db); err != nil {
		return nil, err
	}
	embedders := []embedding.Embedder{settings.Embedder}
	if settings.Previous != nil {
		embedders = append(embedders, settings.Previous)
	}
	models, err := vectors.Open(ctx, c, cmp.Or(settings.SketchMemory, 512<<20), embedders...)
	if err != nil {
		return nil, err
	}
	return &Knowledge{
		Projection: knowledge.New(c, review.Keep, past.Erase, vectors.Erase), Browser: browse.New(c),
		Searcher: search.New(c, models),
		Indexer:  words.NewIndexer(c),
		Versions: &rebuild.Versions{Catalogue: c}, Models: models, Files: erasure.Files{DB: c.DB, Now: c.Now}, catalogue: c,
	}, nil
}

// Servable returns why this program cannot serve the knowledge of a migrated database. It changes nothing.
func Servable(ctx context.Context, db *database.DB) error {
	err := Settings{}.withDefaults().catalogue(db).Reload(ctx, db)
	if errors.Is(err, sql.ErrNoRows) { // nobody has served it yet
		return nil
	}
	return err
}

// View is what a request of another package reads: see [catalogue.Catalogue.View].
func (p *Knowledge) View(ctx context.Context) (catalogue.View, error) { return p.catalogue.View(ctx) }

// Policy returns [Catalogue.Policy].
func (p *Knowledge) Policy() domain.ConfidencePolicy { return p.catalogue.Policy() }

// NewEraser makes an eraser of what the knowledge and the log hold.
func NewEraser(p *Knowledge, log *events.Log, logger *slog.Logger) *erasure.Eraser {
	table := func(ctx context.Context) (rows.Source, error) {
		v, err := p.catalogue.View(ctx)
		return v.Tables.Knowledge, err
	}
	return erasure.New(p.Files, p.Browser, table, log, logger)
}

// Check compares the tables that answers come from with the log; see [rebuild.Check].
func Check(
	ctx context.Context, db *database.DB, settings Settings, progress func(items, of int64),
) (rebuild.Checked, error) {
	return rebuild.Check(ctx, settings.withDefaults().catalogue(db), progress)
}

// OpenPast finds the projection of the past in a migrated database, or creates it.
func OpenPast(
	ctx context.Context, p *Knowledge, log *events.Log, followers *follow.Followers,
) (*past.Projection, error) {
	past, err := past.Open(ctx, p.catalogue, p.Models, p.Browser, p.Searcher, log, followers)
	if err == nil {
		p.Browser.Past.Store(&past.Tables)
	}
	return past, err
}
