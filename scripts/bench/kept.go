package bench

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"

	"github.com/annals-kb/annals/database"
)

// Kept is [Asked] of a program that may fill its databases at one time and measure at another.
type Kept struct {
	Asked

	Keep  bool
	Reuse string
}

// Flags declares --keep and --reuse, too.
func (k *Kept) Flags() {
	k.Asked.Flags()
	flag.BoolVar(&k.Keep, "keep", false, "only fill the databases, leave them and print their URLs")
	flag.StringVar(&k.Reuse, "reuse", "", "measure on the database at this URL, which --keep left; names one engine")
}

// Parse is that of [Asked], and refuses to reuse one database for several engines.
func (k *Kept) Parse(sensible func() bool, must string) error {
	if err := k.Asked.Parse(sensible, must); err != nil {
		return err
	}
	if k.Reuse != "" && len(k.Engines) != 1 {
		return errors.New("--reuse needs --engine sqlite or --engine postgres")
	}
	return nil
}

// Open opens the database to be reused, or a fresh one; away leaves nothing of what is not kept.
func (k *Kept) Open(ctx context.Context, engine database.Engine) (db *database.DB, away func() error, err error) {
	if k.Reuse != "" {
		db, err := database.Open(ctx, k.Reuse, slog.New(slog.DiscardHandler))
		if err != nil {
			return nil, nil, err
		}
		return db, db.Close, nil
	}
	db, url, away, err := Fresh(ctx, engine)
	if err == nil && k.Keep {
		fmt.Fprintf(os.Stderr, "%s is kept: --engine %s --reuse '%s'\n", engine, engine, url)
		away = db.Close
	}
	return db, away, err
}
