package backup_test

import (
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/annals-kb/annals/cmd/annals/backup"
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events/signing"
	"github.com/annals-kb/annals/projections"
)

// A directory and a bucket keep backups alike: of the names that Annals gives, only the newest are kept, and other
// files are left alone.
func TestPlacesKeepTheNewestBackups(t *testing.T) {
	objects := s3mem.New()
	server := httptest.NewServer(gofakes3.New(objects).Server())
	t.Cleanup(server.Close)
	if err := objects.CreateBucket("kept"); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": server.URL, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret",
		"AWS_REGION": "us-east-1",
	} {
		t.Setenv(name, value)
	}
	data, ctx := t.TempDir(), t.Context()
	if _, err := signing.NewKey(data, "test"); err != nil {
		t.Fatal(err)
	}
	logger := databasetest.Log(t)
	db, err := database.Open(ctx, databasetest.SQLite(t), logger)
	if err == nil {
		err = database.Migrate(ctx, db)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := projections.Open(ctx, db, projections.Settings{Logger: logger}); err != nil {
		t.Fatal(err)
	}
	source := backup.Source{DB: db, Data: data, Logger: logger}
	first := backup.NewName()
	time.Sleep(2 * time.Millisecond)
	if backup.NewName() == first {
		t.Errorf("two backups of one second have the name %s", first)
	}
	here := t.TempDir()
	locked := flock.New(filepath.Join(here, ".backup-live", "lock"))
	for _, name := range []string{"dead", "live"} { // after a kill, and of another process
		directory := filepath.Join(here, ".backup-"+name)
		if err := errors.Join(os.Mkdir(directory, 0o700), os.WriteFile(filepath.Join(directory, "lock"), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := locked.TryLock(); !got || err != nil {
		t.Fatal(err)
	}
	if _, err := source.Make(ctx, filepath.Join(here, "x.backup")); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(here, ".backup-*")); err != nil || len(left) != 1 || filepath.Base(left[0]) != ".backup-live" {
		t.Errorf("a backup leaves %q, %v", left, err)
	}
	const old, older, other = "annals-20260102T030405Z.backup", "annals-20250102T030405Z.backup", "mine.backup"
	const future, farther = "annals-20990102T030405Z.backup", "annals-21000102T030405Z.backup"
	for _, address := range []string{t.TempDir(), "s3://kept/annals/"} {
		place, name, err := backup.At(address)
		if err != nil || name != "" {
			t.Fatalf("%s names %q: %v", address, name, err)
		}
		newest := backup.NewName()
		for _, name := range []string{newest, older, other, old, future, farther} {
			if _, err := place.Put(ctx, name, source); err != nil {
				t.Fatal(err)
			}
		}
		if err := place.Keep(ctx, 2, newest); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{future, farther} { // they neither count nor are deleted
			if err := place.Get(ctx, name, filepath.Join(t.TempDir(), name)); err != nil {
				t.Errorf("%s has lost %s: %v", address, name, err)
			}
		}
		if err := place.Keep(ctx, 1, old); err != nil { // by a server whose clock is behind
			t.Fatal(err)
		}
		if names, err := place.Names(ctx); err != nil || !slices.Equal(names, []string{old}) {
			t.Errorf("%s has %v, %v; want the one that was just made", address, names, err)
		}
		if _, err := place.Put(ctx, newest, source); err != nil {
			t.Fatal(err)
		}
		found, contents, unreadable, err := place.Newest(ctx, logger)
		if err != nil || found != newest || contents.MadeAt.IsZero() || unreadable != nil {
			t.Errorf("%s: the newest is %s, made at %s, after %v: %v", address, found, contents.MadeAt, unreadable, err)
		}
		names, err := place.Names(ctx)
		if diff := cmp.Diff([]string{old, newest}, names); err != nil || diff != "" {
			t.Errorf("%s has, %v:\n%s", address, err, diff)
		}
		if got := backup.MadeAt(newest); time.Since(got) > time.Minute {
			t.Errorf("%s was made at %s", newest, got)
		}
		for _, name := range []string{other, newest} {
			file := filepath.Join(t.TempDir(), name)
			from, called, err := backup.At(place.Address(name))
			if err == nil {
				err = from.Get(ctx, called, file)
			}
			if err != nil {
				t.Fatal(err)
			}
			contents, err := backup.Check(ctx, file, name, logger)
			key, _ := contents.OpenKey("")
			want, _ := os.ReadFile(filepath.Join(data, signing.PrivateFile))
			if err != nil || string(key) != string(want) {
				t.Errorf("%s of %s: %v", name, address, err)
			}
		}
		if err := place.Get(ctx, older, filepath.Join(t.TempDir(), older)); err == nil {
			t.Errorf("%s still has %s", address, older)
		}
	}
}
