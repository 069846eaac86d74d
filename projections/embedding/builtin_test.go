package embedding_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/annals-kb/annals/projections/embedding"
)

func embed(t *testing.T, kind embedding.Kind, texts ...string) [][]float32 {
	t.Helper()
	vectors, err := embedding.Builtin{}.Embed(t.Context(), texts, kind)
	if err != nil {
		t.Fatal(err)
	}
	return vectors
}

func TestTheBuiltinFindsWhatWordsAloneMiss(t *testing.T) {
	t.Parallel()
	documents := []string{
		"The database migration failed with a timeout, so we rolled it back.",
		"My sister has two cats and a turtle called Otto.",
		"On Friday we all went swimming in the lake.",
		"Prefers short answers in Markdown, without tables.",
		"服务器部署后日志里有连接超时的错误。",
		"Thanks!",
		"She plays the violin in an orchestra on weekends.",
	}
	vectors := embed(t, embedding.Document, documents...)
	for question, want := range map[string]string{
		"databse migratoin":                   "database migration", // misspelt
		"migrating databases":                 "database migration",
		"宠物":                                  "two cats", // another language
		"What pets do they have?":             "two cats", // a kind
		"Which instruments does anyone play?": "violin",
		"relatives":                           "My sister",
		"timed out connections on deployment": "连接超时",
		"preference for brief replies":        "short answers",
		"Thanks":                              "Thanks!",
	} {
		vector := embed(t, embedding.Query, question)[0]
		best := slices.MaxFunc(documents, func(a, b string) int {
			i, j := slices.Index(documents, a), slices.Index(documents, b)
			return int(1e6 * (embedding.Cosine(vector, vectors[i]) - embedding.Cosine(vector, vectors[j])))
		})
		if !strings.Contains(best, want) {
			t.Errorf("%q finds %q, want the one with %q", question, best, want)
		}
	}
}

func TestAShortRemarkDoesNotBeatTheAnswer(t *testing.T) {
	t.Parallel()
	documents := embed(t, embedding.Document, "Go on, deploy!",
		"Deploy the billing service only after the nightly backup: twice a deployment locked the table that the backup reads.")
	question := embed(t, embedding.Query, "When should we deploy the billing service?")[0]
	if remark, answer := embedding.Cosine(question, documents[0]), embedding.Cosine(question,
		documents[1]); remark >= answer {
		t.Errorf("the remark scores %v, the answer %v", remark, answer)
	}
}

func TestEqualTextsAreEqualAndNearOnesNear(t *testing.T) {
	t.Parallel()
	v := embed(t, embedding.Document, "Prefers tabs over spaces in Go.", "Prefers tabs over spaces in Go.",
		"Prefers tabs to spaces in Go code.", "The invoice is due on Monday.")
	if !slices.Equal(v[0], v[1]) {
		t.Error("the same text has two vectors")
	}
	if near, far := embedding.Cosine(v[0], v[2]), embedding.Cosine(v[0], v[3]); near < 0.6 || far > 0.25 {
		t.Errorf("a restatement is at %v, another subject at %v", near, far)
	}
}

func TestEveryTextHasAUnitVector(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", " ", "the of and", "!", "a", "数", "数据库", "🎉", "\xff\x00", strings.Repeat("x", 10_000),
		strings.Repeat("many different words 1 2 3 ", 2000),
	} {
		for _, kind := range []embedding.Kind{embedding.Document, embedding.Query} {
			v := embed(t, kind, s)[0]
			if len(v) != (embedding.Builtin{}).Dims() {
				t.Fatalf("%d dimensions, want %d", len(v), embedding.Builtin{}.Dims())
			}
			if norm := embedding.Cosine(v, v); math.Abs(norm-1) > 1e-5 {
				t.Errorf("%.20q has norm %v, want 1", s, norm)
			}
		}
	}
}

func TestNothingHasNothingInCommonWithAnything(t *testing.T) {
	t.Parallel()
	nothing := embed(t, embedding.Query, "?!")[0]
	for _, v := range embed(t, embedding.Document, "The database migration failed.", "猫", "ok", "other", "...") {
		if got := embedding.Cosine(nothing, v); got > 0 {
			t.Errorf("got %v, want nothing above 0", got)
		}
	}
}

// The name promises that vectors made long ago can be compared with those made now.
func TestAVectorNeverChangesUnderItsName(t *testing.T) {
	t.Parallel()
	if got := (embedding.Builtin{}).Name(); got != "builtin-2" {
		t.Fatalf("a new name %s needs new numbers here", got)
	}
	v := embed(t, embedding.Document, "The database migration failed; 数据库迁移失败了。")[0]
	sum, weighted := 0.0, 0.0
	for i, x := range v {
		sum += float64(x)
		weighted += float64(x) * float64(i%97)
	}
	if math.Abs(sum-wantSum) > 1e-4 || math.Abs(weighted-wantWeighted) > 1e-2 {
		t.Errorf("the vector's sums are %.6f and %.4f: change the name, or find what changed", sum, weighted)
	}
}

const wantSum, wantWeighted = -0.366039, -10.5074

func TestEmbeddingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (embedding.Builtin{}).Embed(ctx, []string{"x"}, embedding.Query); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func FuzzBuiltin(f *testing.F) {
	f.Add("getUserByID 数据库 café 🎉")
	f.Add("\xff\xfe\x00")
	f.Fuzz(func(t *testing.T, s string) {
		v := embed(t, embedding.Document, s)[0]
		if norm := embedding.Cosine(v, v); !(math.Abs(norm-1) < 1e-4) {
			t.Errorf("%q has norm %v", s, norm)
		}
	})
}
