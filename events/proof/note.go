package proof

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/annals-kb/annals/domain"
)

// textOf is the signed text of a checkpoint: three lines with the origin, the size in decimal digits, and the root in
// base64.
func textOf(c domain.Checkpoint) string {
	return fmt.Sprintf("%s\n%d\n%s\n", c.Origin, c.Size, base64.StdEncoding.EncodeToString(c.Root[:]))
}

var errNoCheckpoint = errors.New("it is no checkpoint: three lines are needed, the origin, the size and the root")

// parse decodes the result of textOf.
func parse(text string) (domain.Checkpoint, error) {
	lines := strings.Split(text, "\n")
	if len(lines) != 4 || lines[3] != "" || lines[0] == "" {
		return domain.Checkpoint{}, errNoCheckpoint
	}
	c := domain.Checkpoint{Origin: lines[0]}
	var err error
	if c.Size, err = strconv.ParseInt(lines[1], 10, 64); err != nil || c.Size < 0 ||
		strconv.FormatInt(c.Size, 10) != lines[1] {
		return c, errNoCheckpoint
	}
	root, err := base64.StdEncoding.Strict().DecodeString(lines[2])
	if err != nil || len(root) != tlog.HashSize {
		return c, errNoCheckpoint
	}
	c.Root = domain.Digest(root)
	return c, nil
}

// ErrSignature says that no trusted key signed a checkpoint.
var ErrSignature = errors.New("not signed by a trusted key")

// Open reads a signed checkpoint. The error matches [ErrSignature] unless one of the keys signed it.
func Open(signed string, keys ...string) (domain.Checkpoint, error) {
	verifiers, err := verifiersOf(keys)
	if err != nil {
		return domain.Checkpoint{}, err
	}
	return open(signed, verifiers)
}

func open(signed string, verifiers note.Verifiers) (domain.Checkpoint, error) {
	opened, err := note.Open([]byte(signed), verifiers)
	if err != nil {
		return domain.Checkpoint{}, fmt.Errorf("%w: %s", ErrSignature, reasonOf(err))
	}
	c, err := parse(opened.Text)
	c.Note = signed
	if err == nil && !strings.HasPrefix(c.Origin, opened.Sigs[0].Name+"/") {
		err = fmt.Errorf("%w: %s signed for %s", ErrSignature, opened.Sigs[0].Name, c.Origin)
	}
	return c, err
}

func reasonOf(err error) string {
	if unverified, ok := errors.AsType[*note.UnverifiedNoteError](err); ok {
		var names []string
		for _, s := range unverified.Note.UnverifiedSigs {
			names = append(names, fmt.Sprintf("%s+%08x", s.Name, s.Hash))
		}
		return "the signature is by " + strings.Join(names, ", ")
	}
	if invalid, ok := errors.AsType[*note.InvalidSignatureError](err); ok {
		return fmt.Sprintf("the signature by %s+%08x is wrong", invalid.Name, invalid.Hash)
	}
	return "it is no signed note"
}

// ErrKey says that a text is not a public key.
var ErrKey = errors.New("no public key")

func verifiersOf(keys []string) (note.Verifiers, error) {
	var list []note.Verifier
	seen := map[string]bool{}
	for _, key := range keys {
		verifier, err := note.NewVerifier(strings.TrimSpace(key))
		if err != nil {
			return nil, fmt.Errorf("%w: it looks like NAME+HASH+KEY, as annals proof key prints it", ErrKey)
		}
		if id := signerID(verifier); !seen[id] { // two keys with one name and number would be ambiguous
			seen[id] = true
			list = append(list, verifier)
		}
	}
	return note.VerifierList(list...), nil
}

// signerID names a key in a form that people can read.
func signerID(key interface {
	Name() string
	KeyHash() uint32
},
) string {
	return fmt.Sprintf("%s+%08x", key.Name(), key.KeyHash())
}
