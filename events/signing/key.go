// Package signing keeps the signing key of a log in the data directory. Its one rule: all other secrets of the servers
// are derived from this key, so that servers with one directory agree on them.
package signing

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// Key is a signing key of Ed25519.
type Key struct {
	Signer note.Signer

	public string
	seed   []byte
}

// Public is the public key for verification: NAME+HASH+KEY, one line.
func (k Key) Public() string { return k.public }

// Derive returns 32 secret bytes for a purpose (HKDF with SHA-256, RFC 5869). They are the same on all servers with
// this key, and do not reveal the key.
func (k Key) Derive(purpose string) ([]byte, error) {
	if len(k.seed) == 0 {
		return nil, ErrNoKey
	}
	return hkdf.Key(sha256.New, k.seed, nil, purpose, sha256.Size)
}

const (
	PrivateFile = "log.key" // the signing key, one line
	publicFile  = "log.pub" // all public keys so far, the newest first
)

var keyName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$`)

// ErrNoKey says that there is no signing key.
var ErrNoKey = errors.New("there is no signing key")

// OpenKey reads the signing key in a directory. The error matches [ErrNoKey] if there is none.
func OpenKey(directory string) (Key, error) {
	path := filepath.Join(directory, PrivateFile)
	private, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Key{}, fmt.Errorf("%w in %s", ErrNoKey, directory)
	case err != nil:
		return Key{}, fmt.Errorf("read the signing key: %w", err)
	}
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		return Key{}, fmt.Errorf("others can read the signing key: run chmod 600 %s, "+
			"and think about making a new one with annals proof new-key", path)
	}
	text := strings.TrimSpace(string(private))
	signer, err := note.NewSigner(text)
	if err != nil {
		return Key{}, fmt.Errorf("%s holds no signing key: put the right one there, or remove it and a new one is made", path)
	}
	seed, err := seedOf(text)
	if err != nil {
		return Key{}, err
	}
	signed, _ := ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)
	public, err := note.NewEd25519VerifierKey(signer.Name(), signed)
	if err != nil {
		return Key{}, err
	}
	return Key{Signer: signer, public: public, seed: seed}, Publish(directory, public)
}

// seedOf is the secret part of a private key. The private key ends with the seed of Ed25519 in base64, after a byte for
// the algorithm.
func seedOf(private string) ([]byte, error) {
	parts := strings.SplitN(private, "+", 5) // PRIVATE+KEY+name+hash+seed
	seed, err := base64.StdEncoding.DecodeString(parts[len(parts)-1])
	if err != nil || len(seed) != 1+ed25519.SeedSize {
		return nil, errors.New("the signing key is no key of Ed25519")
	}
	return seed[1:], nil
}

// Publish adds a public key to the directory.
func Publish(directory, public string) error {
	keys := PublicKeys(directory)
	if slices.Contains(keys, public) {
		return nil
	}
	keys = slices.Insert(keys, 0, public)
	return write(filepath.Join(directory, publicFile), strings.Join(keys, "\n")+"\n", 0o644, os.Rename)
}

// EnsureKey is [OpenKey], and makes a key with the name if there is none. Concurrent processes get the same key.
func EnsureKey(directory, name string) (Key, error) {
	key, err := OpenKey(directory)
	if !errors.Is(err, ErrNoKey) {
		return key, err
	}
	if err := makeKey(directory, name, os.Link); err != nil && !errors.Is(err, fs.ErrExist) {
		return Key{}, err
	}
	return OpenKey(directory)
}

// NewKey makes a signing key, which replaces the previous one. The previous public key is kept, since its signatures
// remain.
func NewKey(directory, name string) (Key, error) {
	if err := makeKey(directory, name, os.Rename); err != nil {
		return Key{}, err
	}
	return OpenKey(directory)
}

// CheckName refuses an invalid name of a signing key.
func CheckName(name string) error {
	if !keyName.MatchString(name) {
		return errors.New("the name of a signing key has at most 128 letters, digits and any of ._/-")
	}
	return nil
}

func makeKey(directory, name string, put func(from, to string) error) error {
	if err := CheckName(name); err != nil {
		return err
	}
	private, _, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		return fmt.Errorf("make a signing key: %w", err)
	}
	return write(filepath.Join(directory, PrivateFile), private+"\n", 0o600, put)
}

// PublicKeys lists the public keys of the directory, the newest first.
func PublicKeys(directory string) []string {
	text, err := os.ReadFile(filepath.Join(directory, publicFile))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text))
}

// write writes a file completely or not at all: put gives it its name.
func write(path, content string, mode fs.FileMode, put func(from, to string) error) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write the key: %w", err)
	}
	defer func() { _ = os.Remove(file.Name()) }() // gone already if it was renamed
	_, err = file.WriteString(content)
	if err = errors.Join(err, file.Chmod(mode), file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("write the key: %w", err)
	}
	if err := put(file.Name(), path); err != nil {
		return fmt.Errorf("write the key: %w", err)
	}
	return nil
}
