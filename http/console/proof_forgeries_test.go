package console_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events/proof"
	"github.com/annals-kb/annals/events/signing"
)

func TestTheBrowserNamesTheStepThatAForgeryFails(t *testing.T) {
	t.Parallel()
	databasetest.Either(t, func(t *testing.T, db *database.DB) {
		l := newLedger(t, db)
		hold(t, slices.Concat(l.forgedRecords(), l.forgedProofs(), l.forgedNotes(), l.forgedContinuations()))
	})
}

// forge is the proof of event 42 of 70, changed as JSON.
func (l *ledger) forge(name, fails string, change func(proof, record, checkpoint map[string]any)) verification {
	l.t.Helper()
	var forged map[string]any
	decoder := json.NewDecoder(bytes.NewReader(must(json.Marshal(l.inclusion(42, leaves)))(l.t)))
	decoder.UseNumber()
	if err := decoder.Decode(&forged); err != nil {
		l.t.Fatal(err)
	}
	record, _ := forged["record"].(map[string]any)
	checkpoint, _ := forged["checkpoint"].(map[string]any)
	change(forged, record, checkpoint)
	return verification{Name: name, Proof: forged, Key: l.key, Fails: fails}
}

// forgedRecords are the record with each of its fields changed, and without it.
func (l *ledger) forgedRecords() (all []verification) {
	l.t.Helper()
	also := map[string]string{
		"tenant": " checkpoint", "position": " repeated path", "event_id": " repeated", "stream": " repeated",
	}
	var record map[string]any
	if err := json.Unmarshal(l.lines[41], &record); err != nil {
		l.t.Fatal(err)
	}
	delete(record, "hash")
	if len(record) != 19 {
		l.t.Fatalf("the record has %d of 19 fields", len(record))
	}
	for name, value := range record {
		all = append(all, l.forge(name+" changed", "record"+also[name], func(_, record, _ map[string]any) {
			switch value := value.(type) {
			case float64:
				record[name] = value + 1
			case string:
				last := len(value) - 1
				record[name] = value[:last] + string(value[last]^1)
			}
		}), l.forge(name+" missing", "record"+also[name], func(_, record, _ map[string]any) { delete(record, name) }))
	}
	return all
}

// forgedProofs are changes of what surrounds the record.
func (l *ledger) forgedProofs() (all []verification) {
	l.t.Helper()
	add := func(name, fails string, change func(proof, record, checkpoint map[string]any)) {
		all = append(all, l.forge(name, fails, change))
	}
	genuine := l.inclusion(42, leaves)
	for i, hash := range genuine.Path {
		add(fmt.Sprintf("path %d changed", i), "path", func(proof, _, _ map[string]any) {
			proof["path"].([]any)[i] = flipped(hash) //nolint:forcetypeassert // a panic fails the test
		})
	}
	add("path cut", "path", func(proof, _, _ map[string]any) { proof["path"] = genuine.Path[1:] })
	add("path cut above", "path", func(proof, _, _ map[string]any) {
		proof["path"] = genuine.Path[:len(genuine.Path)-1]
	})
	add("path longer", "path", func(proof, _, _ map[string]any) {
		proof["path"] = slices.Concat(genuine.Path[:1], genuine.Path)
	})
	add("hash changed", "record repeated path", func(proof, _, _ map[string]any) {
		proof["hash"] = strings.Repeat("0", len(genuine.Hash))
	})
	add("record rewritten with a new hash", "path", func(proof, record, _ map[string]any) {
		rewritten := l.records[41]
		rewritten.Actor = "user:other"
		sum := sha256.Sum256(rewritten.Canonical())
		hash := hex.EncodeToString(sum[:])
		record["actor"], record["hash"], proof["hash"] = "user:other", hash, hash
	})
	add("another stream beside the record", "repeated", func(proof, _, _ map[string]any) {
		proof["stream"] = "knowledge:other"
	})
	add("another position beside the record", "repeated", func(proof, _, _ map[string]any) { proof["position"] = 41 })
	add("a list instead of a text", "record", func(_, record, _ map[string]any) { record["actor"] = []any{record["actor"]} })
	add("a path of other base64", "path", func(proof, _, _ map[string]any) {
		last := len(genuine.Path[0]) - 2 // its lowest two bits belong to no byte
		other := string(slices.Concat([]byte(genuine.Path[0][:last]), []byte{genuine.Path[0][last] + 1, '='}))
		proof["path"] = slices.Concat([]string{other}, genuine.Path[1:])
	})
	add("a field that is not hashed", "repeated", func(_, record, _ map[string]any) { record["approved"] = "yes" })
	all[len(all)-1].stricter = true
	add("another id beside the record", "repeated", func(proof, _, _ map[string]any) {
		proof["event_id"] = l.records[0].EventID
	})
	for name, value := range map[string]any{
		"origin": "annals.example/test/other", "size": 71, "root": flipped(genuine.Checkpoint.Root),
	} {
		add("another "+name+" beside the note", "checkpoint", func(_, _, checkpoint map[string]any) {
			checkpoint[name] = value
		})
	}
	add("a later tree", "path", func(_, _, checkpoint map[string]any) {
		other := l.checkpoint(41)
		checkpoint["note"], checkpoint["size"], checkpoint["root"] = other.Note, other.Size, other.Root
	})
	for name, k := range l.otherKeys() {
		all = append(all, verification{Name: "verified with " + name, Proof: genuine, Key: k.key, Fails: k.fails})
	}
	return all
}

// forgedNotes are changes of the signed checkpoint.
func (l *ledger) forgedNotes() (all []verification) {
	l.t.Helper()
	genuine := l.inclusion(42, leaves).Checkpoint
	add := func(name, fails, note string) {
		all = append(all, l.forge("note: "+name, fails, func(_, _, checkpoint map[string]any) { checkpoint["note"] = note }))
	}
	for name, change := range map[string]struct{ from, to, fails string }{
		"root":   {genuine.Root, flipped(genuine.Root), "path checkpoint signature"},
		"size":   {"\n70\n", "\n30\n", "path checkpoint signature"},
		"origin": {"/default\n", "/defaulu\n", "checkpoint signature"},
		"signer": {"— annals", "— annalt", "signature"},
	} {
		add(name+" changed", change.fails, strings.Replace(genuine.Note, change.from, change.to, 1))
	}
	text := strings.TrimSuffix(genuine.Note, "\n")
	at := strings.LastIndexByte(text, ' ') + 1
	add("signature changed", "signature", text[:at]+flipped(text[at:])+"\n")
	signature := must(base64.StdEncoding.DecodeString(text[at:]))(l.t)
	signature[0] ^= 1
	add("the number of the key changed", "signature", text[:at]+base64.StdEncoding.EncodeToString(signature)+"\n")
	signed := func(text string) string {
		return string(must(note.Sign(&note.Note{Text: text}, l.signer))(l.t))
	}
	text, _, _ = strings.Cut(genuine.Note, "\n\n")
	add("signed with a fourth line", "path checkpoint signature", signed(text+"\nmore\n"))
	add("signed with another form of the size", "path checkpoint signature",
		signed(strings.Replace(text, "\n70\n", "\n070\n", 1)+"\n"))
	private, public, err := note.GenerateKey(rand.Reader, "annals.other")
	if err != nil {
		l.t.Fatal(err)
	}
	add("signed by the key of another log", "signature",
		string(must(note.Sign(&note.Note{Text: text + "\n"}, must(note.NewSigner(private))(l.t)))(l.t)))
	all[len(all)-1].Key = public
	return all
}

// otherKeys are keys that did not sign, and the steps that they fail.
func (l *ledger) otherKeys() map[string]struct{ key, fails string } {
	same := must(signing.NewKey(l.t.TempDir(), "annals.example/test"))(l.t).Public()
	parts, others := strings.SplitN(l.key, "+", 3), strings.SplitN(same, "+", 3)
	return map[string]struct{ key, fails string }{
		"another key of this name":        {same, "signature"},
		"a key of another name":           {must(signing.NewKey(l.t.TempDir(), "other"))(l.t).Public(), "signature"},
		"another key's hash":              {parts[0] + "+" + others[1] + "+" + parts[2], "key signature"},
		"the hash of the own key":         {parts[0] + "+" + parts[1] + "+" + others[2], "key signature"},
		"a text that is no key":           {"annals", "key signature"},
		"the key as of another algorithm": {asOf(2, l.key), "key signature"},
	}
}

// forgedContinuations are changes of the proof that 70 events continue 42, and 64 continue 32.
func (l *ledger) forgedContinuations() (all []verification) {
	l.t.Helper()
	add := func(name, fails string, from, to int, change func(*proof.Continuation)) {
		forged := l.continuation(from, to)
		change(&forged)
		all = append(all, verification{
			Name: fmt.Sprintf("%d to %d: %s", from, to, name), Proof: forged, Key: l.key, Fails: fails,
		})
	}
	for _, size := range [][2]int{{42, 70}, {32, 64}, {69, 70}, {1, 70}} {
		from, to := size[0], size[1]
		genuine := l.continuation(from, to)
		for i, hash := range genuine.Path {
			add(fmt.Sprintf("path %d changed", i), "path", from, to, func(c *proof.Continuation) { c.Path[i] = flipped(hash) })
		}
		add("path cut", "path", from, to, func(c *proof.Continuation) { c.Path = c.Path[1:] })
		add("path longer", "path", from, to, func(c *proof.Continuation) { c.Path = slices.Concat(c.Path, c.Path[:1]) })
		add("swapped", "size path", from, to, func(c *proof.Continuation) { c.Earlier, c.Later = c.Later, c.Earlier })
		add("another earlier tree was signed", "path", from, to, func(c *proof.Continuation) {
			c.Earlier = l.sign(l.signer, "annals.example/test/default", from, tlog.Hash{1}).Note
		})
		add("another later tree was signed", "path", from, to, func(c *proof.Continuation) {
			c.Later = l.sign(l.signer, "annals.example/test/default", to, tlog.Hash{1}).Note
		})
		add("the log of another tenant", "origin", from, to, func(c *proof.Continuation) {
			root := must(tlog.TreeHash(int64(from), l))(l.t)
			c.Earlier = l.sign(l.signer, "annals.example/test/other", from, root).Note
		})
		add("another size in the later note", "later path", from, to, func(c *proof.Continuation) {
			c.Later = strings.Replace(c.Later, fmt.Sprintf("\n%d\n", to), "\n4711\n", 1)
		})
		add("another earlier signature", "earlier", from, to, func(c *proof.Continuation) {
			c.Earlier = strings.TrimSuffix(c.Earlier, "\n")
			at := strings.LastIndexByte(c.Earlier, ' ') + 1
			c.Earlier = c.Earlier[:at] + flipped(c.Earlier[at:]) + "\n"
		})
	}
	add("one size and another root", "path", 42, 42, func(c *proof.Continuation) {
		c.Earlier = l.sign(l.signer, "annals.example/test/default", 42, tlog.Hash{1}).Note
	})
	return all
}

// asOf is a public key with another byte for the algorithm.
func asOf(algorithm byte, key string) string {
	parts := strings.SplitN(key, "+", 3)
	content, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil {
		panic(err)
	}
	content[0] = algorithm
	sum := sha256.Sum256(slices.Concat([]byte(parts[0]+"\n"), content))
	return fmt.Sprintf("%s+%x+%s", parts[0], sum[:4], base64.StdEncoding.EncodeToString(content))
}

// flipped is base64 with one bit of the bytes changed, at the end.
func flipped(text string) string {
	content, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		panic(err)
	}
	content[len(content)-1] ^= 1
	return base64.StdEncoding.EncodeToString(content)
}
