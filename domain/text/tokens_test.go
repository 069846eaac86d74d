package text_test //nolint:lll // texts are data

import (
	"strings"
	"testing"

	"github.com/annals-kb/annals/domain/text"
)

// Texts of different kinds.
const (
	englishText = `When the deployment fails, look at the migration's log first: two of the last three incidents began with a lock
that an analytics query had been holding since midnight. Cancel the query, wait for the replica to catch up, then run the
migration again with a shorter timeout. Nobody needs to be woken for that. `
	chineseText = "部署失败时，先看迁移日志：最近三次事故中有两次是因为分析查询从半夜起一直持有锁。取消查询，等副本追上，再用更短的超时重新迁移。"
	codeText    = `func (s *Server) giveFeedback(ctx context.Context, in *feedbackInput) (*feedbackOutput, error) { return s.base.GiveFeedback(ctx, in.command()) }
`
)

// Counted with two vocabularies of OpenAI's, o200k_base and cl100k_base.
func TestTokensAreAboutWhatModelsCount(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text   string
		counts [2]int
		within float64
	}{
		{strings.ReplaceAll(strings.TrimSpace(englishText), "\n", " "), [2]int{64, 64}, 0.2},
		{chineseText, [2]int{50, 69}, 0.2},
		{"func (s *Server) giveFeedback(ctx context.Context, in *feedbackInput) (*feedbackOutput, error) {\n" +
			"\treceipt, err := s.base.GiveFeedback(ctx, in.command(principal(ctx)))\n\tif err != nil {\n\t\treturn nil, err\n\t}\n" +
			"\treturn respond(receipt), nil\n}\n", [2]int{63, 63}, 0.2},
		{"# Rollback\n\n1. Stop the writers.\n2. Restore `annals.db` from the backup of 2025-03-14.\n" +
			"3. Run `annals verify --offline export.ndjson`, and compare the checkpoint.\n", [2]int{48, 48}, 0.2},
		{`{"id": "k-42", "type": "strategy", "scopes": ["user:123", "project:456"], ` +
			`"eval": {"helpful": 5, "harmful": 0, "confidence": 0.9}}`, [2]int{53, 53}, 0.2},
		{"Übermorgen prüfen wir die Datenbank, damit die Löschung rechtzeitig abgeschlossen ist.", [2]int{17, 25}, 0.3},
		{"Перед обновлением схемы сделайте резервную копию базы данных и проверьте журнал.", [2]int{19, 36}, 0.3},
		{"データベースを移行する前に、必ずバックアップを取ってください。", [2]int{20, 26}, 0.3},
	} {
		got := float64(text.Tokens(test.text))
		low, high := float64(test.counts[0])*(1-test.within), float64(test.counts[1])*(1+test.within)
		if got < low || got > high {
			t.Errorf("Tokens(%.30q…) = %v, want %v…%v", test.text, got, low, high)
		}
	}
}

func TestNothingHasNoTokens(t *testing.T) {
	t.Parallel()
	if got := text.Tokens(""); got != 0 {
		t.Errorf("got %d", got)
	}
}

func FuzzTokensOfPartsCoverTheWhole(f *testing.F) {
	for _, s := range samples {
		f.Add(s, len(s)/2)
	}
	f.Fuzz(func(t *testing.T, s string, at int) {
		if at < 0 || at > len(s) {
			return
		}
		if whole, parts := text.Tokens(s), text.Tokens(s[:at])+text.Tokens(s[at:]); parts < whole &&
			strings.ToValidUTF8(s, "") == s {
			t.Errorf("%q costs %d, cut at %d only %d", s, whole, at, parts)
		}
	})
}
