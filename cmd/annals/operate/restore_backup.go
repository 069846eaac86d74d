package operate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/annals-kb/annals/cmd/annals/backup"
	"github.com/annals-kb/annals/cmd/annals/serve"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/events/signing"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/catalogue"
	projection "github.com/annals-kb/annals/projections/rebuild"
)

// restoring restores a backup.
type restoring struct {
	serve.Storage
	serve.Logging

	Erased []string `group:"where" placeholder:"FILE" complete:"file"`
	NewKey bool     `group:"where"`
	DryRun bool     `group:"where"`
}

// isBackup tells whether the argument is a backup. It refuses the flags for backups with the id of an item.
func (r *restoring) isBackup(what string) (bool, error) {
	is := backup.Is(what)
	if !is && (len(r.Erased) > 0 || r.NewKey || r.DryRun) {
		return false, terminal.Wrong("leave them out; or name the backup by its path, as in ./"+what,
			"--erased, --new-key and --dry-run are for a backup, and %s is taken for the id of an item", what)
	}
	return is, nil
}

func (r *restoring) restore(ctx context.Context, c *terminal.Console, what string) error {
	to := serve.Config{Storage: r.Opened(c), Logging: r.Logging}
	parent := os.TempDir() // a dry run changes nothing
	if !r.DryRun {
		if err := checkEmpty(ctx, to, to.Logger(c)); err != nil {
			return err
		}
		if err := serve.CreateData(to.Data); err != nil {
			return err
		}
		parent = to.Data
		left, _ := filepath.Glob(filepath.Join(parent, ".restore-*")) // the pattern is valid

		for _, directory := range left { // of a restore that was killed; it may hold erased texts
			_ = os.RemoveAll(directory)
		}
	}
	directory, err := os.MkdirTemp(parent, ".restore-*")
	if err != nil {
		return fmt.Errorf("make a directory in %s: %w", parent, err)
	}
	defer os.RemoveAll(directory) //nolint:errcheck // a leftover is harmless
	s := stage{console: c, logger: to.Logger(c), directory: directory, file: filepath.Join(directory, "annals.db")}
	if err := s.fetch(ctx, what, r.Erased); err != nil {
		return err
	}
	var key []byte
	if !r.NewKey {
		if key, err = s.contents.OpenKey(serve.BackupPassphrase()); err == nil {
			err = checkKey(to.Data, key)
		}
	}
	if err == nil {
		err = s.migrate(ctx)
	}
	if err != nil {
		return err
	}
	s.contents.Key = nil // it is shown to nobody
	from := fmt.Sprintf("%s of %s (%s)", described(s.contents), s.contents.MadeAt.Format(time.RFC3339), s.contents.Engine)
	if r.DryRun {
		return s.say(map[string]any{"contents": s.contents}, "the backup is complete: %s", from)
	}
	if err := s.restore(ctx, to, key); err != nil {
		return err
	}
	where := serve.DatabaseName(to.Database)
	err = s.say(map[string]any{"contents": s.contents, "replayed": s.replayed, "database": where},
		"restored %s to %s", terminal.Bold.Render(from), where)
	if len(s.list) > 0 && !c.JSON {
		printReplayed(c, s.replayed)
	}
	c.Note("verify it with: annals verify; then start a server, which computes vectors and the past anew")
	return err
}

// checkEmpty refuses a database with events, and a SQLite file that is in use.
func checkEmpty(ctx context.Context, to serve.Config, logger *slog.Logger) (err error) {
	ctx = database.ForEveryTenant(ctx)
	db, err := database.OpenReadOnly(ctx, to.Database, logger)
	if errors.Is(err, database.ErrAbsent) {
		return nil
	}
	if _, isFile := serve.SqliteFile(to.Database); err == nil && isFile {
		err = db.Close()
		if err == nil {
			db, err = database.Open(ctx, to.Database, logger)
		}
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	have, _, err := database.Schema(ctx, db)
	if err != nil || have == 0 {
		return err
	}
	holds, used := false, false
	err = database.ForEach(ctx, db, func(rows *sql.Rows) error { return rows.Scan(&holds, &used) },
		"SELECT EXISTS (SELECT 1 FROM events), EXISTS (SELECT 1 FROM leases WHERE expires_at > ?)", database.At(time.Now()))
	if err == nil && holds {
		return &terminal.Failure{
			Code: terminal.ExitRefused, Detail: serve.DatabaseName(to.Database) + " is not empty",
			Fix: "name another with --data DIR or --database URL, or move this one away",
		}
	}
	if _, isFile := serve.SqliteFile(to.Database); err == nil && used && !isFile {
		return &terminal.Failure{
			Code: terminal.ExitUnavailable, Detail: "a server uses " + serve.DatabaseName(to.Database),
			Fix: "stop every server, and try again in a minute",
		}
	}
	return err
}

// checkKey refuses to replace another signing key.
func checkKey(directory string, key []byte) error {
	have, err := os.ReadFile(filepath.Join(directory, signing.PrivateFile))
	switch {
	case errors.Is(err, fs.ErrNotExist) || len(key) == 0:
		return nil
	case err == nil && string(have) != string(key):
		return terminal.Wrong("name an empty directory with --data, move that key away, or keep it with --new-key",
			"%s has another signing key than the backup", directory)
	}
	return err
}

// stage is a copy of a backup, which becomes the database, or is copied to it. Until then nothing is changed.
type stage struct {
	console   *terminal.Console
	logger    *slog.Logger
	directory string
	file      string
	contents  backup.Contents
	list      []serve.Erasure
	replayed  serve.Replayed
}

func (s *stage) say(document any, format string, values ...any) error {
	if s.console.JSON {
		return s.console.Document(document)
	}
	s.console.Say(format, values...)
	return nil
}

// fetch copies the backup, checks it, and reads the erasures to repeat: from lists, or from later backups.
func (s *stage) fetch(ctx context.Context, from string, erased []string) (err error) {
	if s.contents, err = get(ctx, from, s.file, s.logger); err != nil {
		return err
	}
	for i, name := range erased {
		var list []serve.Erasure
		if backup.Is(name) && filepath.Ext(name) != ".ndjson" {
			list, err = erasuresIn(ctx, name, filepath.Join(s.directory, "erased-"+strconv.Itoa(i)), s.logger)
		} else {
			list, err = serve.ErasuresIn(name)
		}
		if err != nil {
			return err
		}
		s.list = append(s.list, list...)
	}
	return nil
}

func get(ctx context.Context, from, file string, logger *slog.Logger) (contents backup.Contents, err error) {
	place, name, err := backup.At(from)
	if err == nil {
		err = place.Get(ctx, name, file)
	}
	if err != nil {
		return contents, err
	}
	return backup.Check(ctx, file, from, logger)
}

// erasuresIn reads the erasures in a backup.
func erasuresIn(ctx context.Context, from, file string, logger *slog.Logger) (list []serve.Erasure, err error) {
	if _, err := get(ctx, from, file, logger); err != nil {
		return nil, err
	}
	db, err := database.OpenReadOnly(ctx, "sqlite:"+file, logger)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, name := range listedNames {
		err = errors.Join(err, database.ForEach(ctx, db, func(rows *sql.Rows) error {
			line, listed, err := scanErasure(rows)
			if listed {
				list = append(list, line)
			}
			return err
		}, "SELECT tenant, name, event_id, stream, recorded_at, data FROM events WHERE name = ?", name))
	}
	return list, err
}

// migrate gives the copy the schema of this program, and verifies its log.
func (s *stage) migrate(ctx context.Context) error {
	db, err := serve.OpenDatabase(ctx, s.config(s.file), s.logger)
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		return err
	}
	return backup.Verify(ctx, s.file, s.contents, s.logger)
}

func (s *stage) config(file string) serve.Config {
	return serve.Config{Storage: serve.Storage{Database: "sqlite:" + file, Data: s.directory}}
}

// restore repeats the erasures before anything reaches the database. The rows go to a new database, since nothing
// checks the indexes and triggers of the backup.
func (s *stage) restore(ctx context.Context, to serve.Config, key []byte) error {
	path, isFile := serve.SqliteFile(to.Database)
	if isFile || len(s.list) > 0 {
		fresh := filepath.Join(s.directory, "new.db")
		if err := s.copyTo(ctx, s.config(fresh), s.list); err != nil {
			return err
		}
		s.file = fresh
	}
	if err := errors.Join(to.CreateDirectory(), s.putKey(to.Data, key)); err != nil {
		return err
	}
	if isFile {
		return putFile(s.file, path)
	}
	return s.copyTo(ctx, to, nil)
}

func (s *stage) putKey(directory string, key []byte) (err error) {
	if len(key) > 0 {
		err = terminal.WriteText(s.console, filepath.Join(directory, signing.PrivateFile), key)
	}
	for _, public := range slices.Backward(s.contents.PublicKeys) { // the newest last, so that it comes first
		err = errors.Join(err, signing.Publish(directory, public))
	}
	return err
}

// putFile gives the copy its place, instead of an empty database.
func putFile(file, path string) error {
	for _, beside := range []string{"-wal", "-shm"} {
		if err := os.Remove(path + beside); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return terminal.Unwritable(path, err)
		}
	}
	if err := os.Rename(file, path); err != nil {
		return terminal.Unwritable(path, err)
	}
	return nil
}

// copyTo copies the rows to a database without events, computes what follows from them, and repeats erasures.
func (s *stage) copyTo(ctx context.Context, to serve.Config, list []serve.Erasure) (err error) {
	db, err := serve.OpenDatabase(ctx, to, s.logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	bar := terminal.Watch(s.console, "copying rows")
	err = backup.CopyTo(ctx, s.file, db, s.logger, func(rows int64) { bar.Set(rows, 0) })
	bar.End()
	if err != nil {
		return err
	}
	return s.compute(ctx, db, list)
}

// compute computes the projection of knowledge from the log, and then repeats erasures.
func (s *stage) compute(ctx context.Context, db *database.DB, list []serve.Erasure) (err error) {
	quiet := slog.New(slog.DiscardHandler)
	known, err := projections.Open(ctx, db, projections.Settings{Logger: quiet})
	if err != nil {
		return err
	}
	options := events.Options{Policy: known.Policy(), Selection: known.Browser, Logger: quiet}
	log, followers := follow.NewLog(db, known.Projection, options)
	defer func() { err = errors.Join(err, log.Close(context.WithoutCancel(ctx))) }()
	rebuilds := projection.Rebuilds{Rebuilder: projection.New(known.Versions, known.Models, log, followers)}
	defer rebuilds.Close()
	_, err = rebuilds.Start(ctx, catalogue.KnowledgeName,
		domain.RebuildOrder{Confidence: s.contents.Confidence, Repair: true})
	if err != nil {
		return err
	}
	bar := terminal.Watch(s.console, "computing items")
	for running := true; running && ctx.Err() == nil; time.Sleep(firstPoll) {
		var progress domain.RebuildProgress
		if progress, running = rebuilds.Progress(); running {
			bar.Set(progress.Streams, progress.Total)
		}
	}
	bar.End()
	last, err := rebuilds.Last(ctx, catalogue.KnowledgeName)
	switch {
	case err != nil:
		return err
	case last.State != catalogue.StateActive:
		return &terminal.Failure{
			Code: terminal.ExitFailed, Detail: "the answers could not be computed from the log: " + last.Error,
			Fix: "start a server, and run annals rebuild knowledge --repair",
		}
	case len(list) == 0:
		return nil
	}
	s.replayed, err = serve.ReplayList(ctx, log, projections.NewEraser(known, log, quiet), list)
	if err == nil {
		_, err = known.Files.PurgeFiles(ctx)
	}
	return err
}
