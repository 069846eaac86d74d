package receipts_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/projections/projectiontest"
	"github.com/annals-kb/annals/projections/receipts"
)

// somePage are receipts with anything that a page can hold.
func somePage(t *rapid.T) (all []*receipts.Receipt) {
	word := rapid.StringOfN(rapid.Rune(), 0, 20, -1)
	steps := func(most int) float64 { return float64(rapid.IntRange(0, most).Draw(t, "steps")) / float64(most) }
	sequence, at := int64(0), day
	for range rapid.IntRange(1, 20).Draw(t, "receipts") {
		sequence += rapid.Int64Range(1, 1000).Draw(t, "sequence")
		at = at.Add(time.Duration(rapid.IntRange(0, 1e9).Draw(t, "time")) * time.Microsecond)
		r := &receipts.Receipt{
			Sequence: sequence, At: at, Position: rapid.Int64Range(0, 1<<40).Draw(t, "position"),
			AsOf: rapid.Int64Range(0, 1<<40).Draw(t, "as of"), Items: []receipts.Item{},
			Circumstances: receipts.Circumstances{
				Kind: domain.GivenUse, Status: rapid.IntRange(0, 599).Draw(t, "status"), Caller: domain.Entity(word.Draw(t, "caller")),
				OnBehalfOf: domain.Entity(word.Draw(t, "behalf")), Authentication: word.Draw(t, "authentication"),
				Host: word.Draw(t, "host"), Session: word.Draw(t, "session"), Trace: word.Draw(t, "trace"),
				Route: word.Draw(t, "route"), Embedder: word.Draw(t, "embedder"), Ranking: word.Draw(t, "ranking"),
			},
		}
		copy(r.Answer[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "answer"))
		if rapid.Bool().Draw(t, "asked") {
			r.Question = receipts.Question{Digest: receipts.Digest{1}, Salt: make([]byte, 16), Text: word.Draw(t, "question")}
		}
		for range rapid.IntRange(0, 12).Draw(t, "items") {
			item := receipts.Item{
				Number: rapid.Int64Range(1, 1<<40).Draw(t, "number"), Version: rapid.Int64Range(1, 1<<20).Draw(t, "version"),
				Score: steps(10_000), Semantic: steps(250), Model: steps(250), Lexical: steps(250), Confidence: steps(250),
				Band: rapid.SampledFrom([]domain.Band{"", domain.Sure, domain.Perhaps}).Draw(t, "band"), Scope: domain.Scope(word.Draw(t, "scope")),
				Level: domain.Level(rapid.IntRange(0, 2).Draw(t, "level")), Cut: rapid.Bool().Draw(t, "cut"),
			}
			copy(item.History[:], rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "history"))
			r.Items = append(r.Items, item)
		}
		all = append(all, r)
	}
	return all
}

func TestAPageIsReadAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := somePage(t)
		data, _, texts := receipts.Encoded(all)
		Equal(t, Must(receipts.Decoded(data, texts))(t), all, "(-read +written)")
	})
}

func FuzzAnyPageIsReadOrRefused(f *testing.F) {
	data, _, texts := receipts.Encoded([]*receipts.Receipt{{Sequence: 1, At: day, Items: []receipts.Item{{Number: 7, Version: 1}}}})
	f.Add(data, texts)
	f.Fuzz(func(t *testing.T, data, texts []byte) {
		all, err := receipts.Decoded(data, texts)
		if err != nil || len(all) == 0 {
			return
		}
		again, _, questions := receipts.Encoded(all)
		if _, err := receipts.Decoded(again, questions); err != nil {
			t.Errorf("written again, it is not read: %v", err)
		}
	})
}

// busyMinute are 600 receipts of ten hits each, by twenty agents about 20,000 items, each with a trace of its own.
func busyMinute(random *rand.Rand) (all []*receipts.Receipt) {
	for i := range 600 {
		r := &receipts.Receipt{
			Tenant: "default", Run: 1, Sequence: int64(i) + 1, At: day.Add(time.Duration(i)*100*time.Millisecond + time.Duration(random.IntN(1e5))*time.Microsecond),
			Position: 1_000_000 + int64(i), Circumstances: receipts.Circumstances{
				Kind: domain.GivenUse, Status: 200, Caller: "agent:coder", OnBehalfOf: domain.Entity(fmt.Sprint("user:", i%20)),
				Authentication: fmt.Sprint("key:abcdefgh", i%20), Host: "claude-code/2.0.14", Session: fmt.Sprintf("%032x", i%20),
				Trace: fmt.Sprintf("%016x%016x", random.Uint64(), random.Uint64()), Route: "POST /v1/search", Embedder: "builtin", Ranking: "1",
			},
		}
		for i := range 16 {
			r.Answer[i], r.Question.Digest[i] = byte(random.IntN(256)), byte(random.IntN(256))
		}
		for h := range 10 {
			item := receipts.Item{
				Number: 1 + random.Int64N(1_000_000), Version: 1 + random.Int64N(9), Score: float64(random.IntN(10_000)) / 10_000,
				Semantic: float64(random.IntN(250)) / 250, Lexical: float64(random.IntN(250)) / 250,
				Confidence: float64(random.IntN(250)) / 250, Band: domain.Sure, Level: domain.Detail,
				Scope: []domain.Scope{"team:pay", "org:acme", "user:ann"}[h%3], Cut: h == 9,
			}
			for i := range item.History {
				item.History[i] = byte(random.IntN(256))
			}
			r.Items = append(r.Items, item)
		}
		all = append(all, r)
	}
	return all
}

// A receipt of ten hits needs at most 300 bytes, besides its question.
func TestAReceiptIsSmall(t *testing.T) {
	all := busyMinute(rand.New(rand.NewPCG(1, 2)))
	data, keys, _ := receipts.Encoded(all)
	alone, aloneKeys, _ := receipts.Encoded(all[:1])
	t.Logf("%d bytes a receipt (%d data, %d keys); alone in its minute: %d", (len(data)+len(keys))/600, len(data)/600,
		len(keys)/600, len(alone)+len(aloneKeys))
	each(t, func(t *testing.T, w *world) {
		before := Must(w.Size(t.Context()))(t)
		for minute := range 10 {
			NoError(t, w.Put(t.Context(), int64(minute*600), all))
		}
		bytes := (Must(w.Size(t.Context()))(t) - before) / 6000
		t.Logf("%d bytes a receipt on disk", bytes)
		if bytes > 300 {
			t.Errorf("a receipt of ten hits needs %d bytes on disk", bytes)
		}
	})
}
