package signing_test

import (
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/annals-kb/annals/events/signing"
)

// A key can be made twice at once, and is one.
func TestAKeyIsMadeOnceAndKept(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	keys := make(chan string)
	for range 8 {
		go func() {
			key, err := signing.EnsureKey(directory, "annals.example")
			if err != nil {
				t.Error(err)
				keys <- ""
				return
			}
			keys <- key.Public()
		}()
	}
	first := <-keys
	for range 7 {
		if key := <-keys; key != first {
			t.Errorf("got %s and %s", first, key)
		}
	}
	next, err := signing.NewKey(directory, "annals.example")
	if err != nil {
		t.Fatal(err)
	}
	if got := signing.PublicKeys(directory); len(got) != 2 || got[0] != next.Public() || got[1] != first {
		t.Errorf("got %v", got)
	}
	if _, err := signing.NewKey(directory, "no name"); err == nil {
		t.Error("a name with a space is accepted")
	}
	if _, err := signing.OpenKey(t.TempDir()); !errors.Is(err, signing.ErrNoKey) {
		t.Errorf("got %v, want %v", err, signing.ErrNoKey)
	}
}

// The secrets of a stored key stay what they are, so that sessions go on with a new version.
func TestServersWithOneKeyDeriveTheSameSecretForAPurpose(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	const stored = "PRIVATE+KEY+annals+36645510+AQABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f\n"
	if err := os.WriteFile(filepath.Join(directory, signing.PrivateFile), []byte(stored), 0o600); err != nil {
		t.Fatal(err)
	}
	const login = "annals login sessions"
	if got, want := derived(t, directory, login),
		"1062a6eb9c522f79d820eeee8a72efdae089c33df59f8325576c5e7bc27c5909"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if derived(t, directory, login) == derived(t, directory, "another purpose") {
		t.Error("two purposes have one secret")
	}
	if derived(t, directory, login) == derived(t, t.TempDir(), login) {
		t.Error("two keys have one secret")
	}
	if _, err := (signing.Key{}).Derive(login); !errors.Is(err, signing.ErrNoKey) {
		t.Errorf("got %v, want %v", err, signing.ErrNoKey)
	}
}

// derived is the secret of a server with a data directory.
func derived(t *testing.T, directory, purpose string) string {
	t.Helper()
	key, err := signing.EnsureKey(directory, "annals")
	if err != nil {
		t.Fatal(err)
	}
	secret, err := key.Derive(purpose)
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(secret)
}
