package text_test //nolint:lll // texts are data

import (
	"strings"
	"testing"

	"github.com/annals-kb/annals/text"
)

const (
	englishText = `When the deployment fails, look at the migration's log first: two of the last three incidents began with a lock
that an analytics query had been holding since midnight. Cancel the query, wait for the replica to catch up, then run the
migration again with a shorter timeout. Nobody needs to be woken for that. `
	chineseText = "部署失败时，先看迁移日志：最近三次事故中有两次是因为分析查询从半夜起一直持有锁。取消查询，等副本追上，再用更短的超时重新迁移。"
	codeText    = `func (s *Server) giveFeedback(ctx context.Context, in *feedbackInput) (*feedbackOutput, error) { return s.base.GiveFeedback(ctx, in.command()) }
`
)

func BenchmarkTerms(b *testing.B) {
	for _, sample := range []struct{ name, text string }{
		{"english", englishText},
		{"chinese", chineseText},
		{"code", codeText},
	} {
		s := strings.Repeat(sample.text, 4096/len(sample.text)+1)
		b.Run(sample.name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				text.Terms(s)
			}
		})
	}
}

func BenchmarkDocumentTerms(b *testing.B) {
	b.SetBytes(int64(len(englishText)))
	b.ReportAllocs()
	for b.Loop() {
		text.DocumentTermsOf(englishText)
	}
}

func BenchmarkTokens(b *testing.B) {
	b.SetBytes(int64(len(englishText)))
	for b.Loop() {
		text.Tokens(englishText)
	}
}
