package backup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"filippo.io/age"
	"github.com/gofrs/flock"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/events/signing"
)

// Contents describe a backup.
type Contents struct {
	Format     string            `json:"format"`
	MadeAt     time.Time         `json:"made_at"`
	Program    string            `json:"program"`
	Engine     string            `json:"engine"`
	Confidence string            `json:"confidence"` // the policy of the active projection
	Tables     map[string]Digest `json:"tables"`
	PublicKeys []string          `json:"public_keys"`
	Key        []byte            `json:"key,omitempty"` // the signing key; nil for none
	Encrypted  bool              `json:"encrypted"`
}

const format = "annals backup 1"

// Source is a database that may be in use, with what belongs to it.
type Source struct {
	DB         *database.DB
	Data       string // the directory of the signing key
	Passphrase string // encrypts the signing key; empty for not
	Logger     *slog.Logger
	Progress   func(rows int64) // may be nil
}

// Make writes a backup of one moment to a new file, and verifies it.
func (s Source) Make(ctx context.Context, path string) (c Contents, err error) {
	sweep(filepath.Dir(path))
	directory, err := os.MkdirTemp(filepath.Dir(path), ".backup-*")
	if err != nil {
		return c, terminal.Unwritable(path, err)
	}
	defer os.RemoveAll(directory) //nolint:errcheck // the next backup removes a leftover
	lock := flock.New(filepath.Join(directory, lockFile))
	if _, err := lock.TryLock(); err != nil {
		return c, terminal.Unwritable(path, err)
	}
	defer lock.Close() //nolint:errcheck // it is removed
	file := filepath.Join(directory, "backup.db")
	if c, err = s.write(ctx, file); err != nil {
		return c, fmt.Errorf("write %s: %w", path, err)
	}
	if _, err := Check(ctx, file, path, s.Logger); err != nil {
		return c, err
	}
	if err := Verify(ctx, file, c, s.Logger); err != nil {
		return c, err
	}
	if err := install(file, path); err != nil {
		return c, terminal.Unwritable(path, err)
	}
	return c, nil
}

// lockFile is locked while a backup is made in its directory.
const lockFile = "lock"

// sweep removes what backups left that were killed.
func sweep(directory string) {
	left, _ := filepath.Glob(filepath.Join(directory, ".backup-*")) // the pattern is valid
	for _, directory := range left {
		lock := flock.New(filepath.Join(directory, lockFile), flock.SetFlag(os.O_RDWR)) // which must exist
		if got, err := lock.TryLock(); err == nil && got {
			_ = errors.Join(lock.Close(), os.RemoveAll(directory))
		}
	}
}

// install moves a complete file to its place, which must be free.
func install(file, path string) error {
	if _, err := os.Lstat(path); err == nil {
		return os.ErrExist
	}
	written, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(written.Sync(), written.Close(), os.Chmod(file, 0o600)); err != nil {
		return err
	}
	return os.Rename(file, path)
}

func (s Source) write(ctx context.Context, file string) (c Contents, err error) {
	c = Contents{
		Format: format, MadeAt: time.Now().UTC().Truncate(time.Second), Program: terminal.Version().Version,
		Engine: s.DB.Engine.String(), PublicKeys: signing.PublicKeys(s.Data),
	}
	if c.Key, c.Encrypted, err = sealedKey(s.Data, s.Passphrase); err != nil {
		return c, err
	}
	ctx = database.ForEveryTenant(ctx)
	to, err := database.Open(ctx, "sqlite:"+file, slog.New(slog.DiscardHandler))
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if err := database.Migrate(ctx, to); err != nil {
		return c, err
	}
	tables, err := tablesOf(ctx, to)
	if err != nil {
		return c, err
	}
	moment, err := s.DB.OpenSnapshot(ctx, 1)
	if err != nil {
		return c, err
	}
	defer moment.End()
	from := moment.Transactions[0]
	err = from.NewRaw("SELECT settings ->> 'confidence' FROM projections WHERE name = 'knowledge' AND state = 'active'").
		Scan(ctx, &c.Confidence)
	if err != nil {
		return c, database.Classify(ctx, fmt.Errorf("read the active projection: %w", err))
	}
	c.Tables, err = copyTables(ctx, tables, from, to.Engine, s.Progress, func(script *database.Script) error {
		return to.TransactAsync(ctx, func(ctx context.Context, tx bun.Tx) error { return script.Run(ctx, tx) })
	})
	if err != nil {
		return c, err
	}
	encoded, err := json.Marshal(c)
	if err == nil {
		_, err = to.TransactOne(ctx, "CREATE TABLE backup (contents TEXT NOT NULL) STRICT")
	}
	if err == nil {
		_, err = to.TransactOne(ctx, "INSERT INTO backup VALUES (?)", string(encoded))
	}
	return c, err
}

const whichFile = "name a file that annals backup has written, whole"

// Is tells whether a word names a backup: by its address, which no id of an item can be, its suffix, or because it is
// a file of SQLite.
func Is(word string) bool {
	return strings.HasPrefix(word, bucketScheme) || strings.HasSuffix(word, suffix) || strings.Contains(word, "/") ||
		database.IsSQLite(word)
}

// unreadable says why a file is no backup.
const unreadable = "SQLite cannot read it"

func broken(name, why string) error {
	return terminal.Wrong(whichFile, "%s is no complete backup: %s", name, why)
}

// open opens a backup and reads its description. Without an error, the caller closes it.
func open(ctx context.Context, file, name string, logger *slog.Logger) (c Contents, db *database.DB, err error) {
	if db, err = database.OpenReadOnly(ctx, "sqlite:"+file, logger); err != nil {
		return c, nil, broken(name, unreadable)
	}
	var encoded string
	if err = db.NewRaw("SELECT contents FROM backup").Scan(ctx, &encoded); err != nil {
		err = broken(name, "it does not say what it holds")
	} else if err = json.Unmarshal([]byte(encoded), &c); err != nil || c.Format != format {
		err = terminal.Wrong("use the annals that wrote it, or a newer one", "%s has another form: %q", name, c.Format)
	}
	if err != nil {
		return c, nil, errors.Join(err, db.Close())
	}
	return c, db, nil
}

// Check compares every row of a backup with its description. Errors call the file by its name.
func Check(ctx context.Context, file, name string, logger *slog.Logger) (c Contents, err error) {
	c, db, err := open(ctx, file, name, logger)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	broken := func(why string) error { return broken(name, why) }
	tables, err := tablesOf(ctx, db)
	if err != nil {
		return c, broken(unreadable)
	}
	found := 0
	for _, t := range tables {
		want, named := c.Tables[t.name]
		if !named {
			continue
		}
		found++
		d, err := t.read(ctx, db, func([]any) error { return ctx.Err() })
		switch {
		case ctx.Err() != nil:
			return c, ctx.Err()
		case err != nil:
			return c, broken(unreadable)
		case d != want:
			return c, broken(fmt.Sprintf("the table %s is not what was written, with %d rows instead of %d", t.name, d.Rows,
				want.Rows))
		}
	}
	if found < len(c.Tables) {
		return c, broken(fmt.Sprintf("%d of %d tables are missing", len(c.Tables)-found, len(c.Tables)))
	}
	return c, nil
}

// Verify verifies the log of a backup, which must have the schema of this program.
func Verify(ctx context.Context, file string, c Contents, logger *slog.Logger) error {
	db, err := database.OpenReadOnly(ctx, "sqlite:"+file, logger)
	if err != nil {
		return err
	}
	err = verifyLog(ctx, db, c) // part: proofs
	return errors.Join(err, db.Close())
}

// CopyTo copies the tables of a backup, which must have the schema of this program, to a database without events, in
// one transaction.
func CopyTo(
	ctx context.Context, file string, to *database.DB, logger *slog.Logger, progress func(rows int64),
) (err error) {
	ctx = database.ForEveryTenant(ctx)
	from, err := database.OpenReadOnly(ctx, "sqlite:"+file, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	tables, err := tablesOf(ctx, from)
	if err != nil {
		return err
	}
	return to.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		_, err := copyTables(ctx, tables, from, to.Engine, progress, func(script *database.Script) error {
			return script.Run(ctx, tx)
		})
		return err
	})
}

// sealedKey is the signing key in a directory; nil if there is none.
func sealedKey(directory, passphrase string) (key []byte, encrypted bool, err error) {
	key, err = os.ReadFile(filepath.Join(directory, signing.PrivateFile))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("read the signing key: %w", err)
	case passphrase == "":
		return key, false, nil
	}
	to, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return nil, false, fmt.Errorf("use the passphrase: %w", err)
	}
	var sealed bytes.Buffer
	into, err := age.Encrypt(&sealed, to)
	if err == nil {
		_, err = into.Write(key)
		err = errors.Join(err, into.Close())
	}
	return sealed.Bytes(), true, err
}

// OpenKey is the signing key in a backup; nil if it has none.
func (c Contents) OpenKey(passphrase string) ([]byte, error) {
	if !c.Encrypted {
		return c.Key, nil
	}
	if passphrase == "" {
		return nil, terminal.Wrong("set ANNALS_BACKUP_PASSPHRASE, or leave the key out with --new-key",
			"the signing key in this backup is encrypted")
	}
	from, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return nil, fmt.Errorf("use the passphrase: %w", err)
	}
	opened, err := age.Decrypt(bytes.NewReader(c.Key), from)
	if err != nil {
		return nil, terminal.Wrong("set ANNALS_BACKUP_PASSPHRASE to the one of its making, or leave the key out with "+
			"--new-key", "this passphrase does not open the signing key in the backup")
	}
	return io.ReadAll(opened)
}
