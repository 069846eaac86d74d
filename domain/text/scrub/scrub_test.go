package scrub_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/annals-kb/annals/domain/text/scrub"
)

var marked = regexp.MustCompile(`(?s)⟦([a-z_]+)\|(.*?)⟧`)

// plainOf is a text of the corpus without its marks, and as it should be scrubbed.
func plainOf(text string) (plain, want string, expected scrub.Redactions) {
	expected = scrub.Redactions{}
	for _, found := range marked.FindAllStringSubmatch(text, -1) {
		expected[scrub.Class(found[1])]++
	}
	want = marked.ReplaceAllStringFunc(text, func(s string) string {
		return scrub.Class(marked.FindStringSubmatch(s)[1]).Mark()
	})
	return marked.ReplaceAllString(text, "$2"), want, expected
}

func everything(t testing.TB) *scrub.Scrubber {
	s, err := scrub.New(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func scrubbed(t testing.TB, s *scrub.Scrubber, text string) (string, scrub.Redactions) {
	t.Helper()
	clean, found, err := s.Scrub(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	return clean, found
}

// TestCorpus holds precision and recall. What is missed is named in the log, known or not.
func TestCorpus(t *testing.T) {
	t.Parallel()
	const leastPrecision, leastRecall = 0.98, 0.95
	s := everything(t)
	right, wrong, missed := scrub.Redactions{}, scrub.Redactions{}, scrub.Redactions{}
	for _, text := range slices.Concat(secrets(), innocents()) {
		plain, want, expected := plainOf(text)
		got, found := scrubbed(t, s, plain)
		if got == want {
			for class, n := range expected {
				right[class] += n
			}
			continue
		}
		t.Logf("got %q, want %q", got, want)
		for _, class := range scrub.Classes() {
			wrong[class] += max(0, found[class]-expected[class])
			missed[class] += max(0, expected[class]-found[class])
			if n := min(found[class], expected[class]); n > 0 { // there is one, and it is not where it should be
				wrong[class] += n
				missed[class] += n
			}
		}
	}
	sum := func(of scrub.Redactions) (n int) {
		for c := range maps.Values(of) {
			n += c
		}
		return n
	}
	for _, class := range scrub.Classes() {
		t.Logf("%-12s %3d found, %d wrongly, %d missed", class, right[class], wrong[class], missed[class])
	}
	tp, fp, fn := float64(sum(right)), float64(sum(wrong)), float64(sum(missed))
	precision, recall := tp/(tp+fp), tp/(tp+fn)
	t.Logf("%d secrets, %d innocent texts: precision %.3f, recall %.3f", int(tp+fn), len(innocents()), precision, recall)
	if precision < leastPrecision || recall < leastRecall {
		t.Errorf("got precision %.3f and recall %.3f, want at least %.2f and %.2f",
			precision, recall, leastPrecision, leastRecall)
	}
}

func TestScrubbingTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	pieces := []string{
		" ", "\n", "-", ".", ",", "@", "+", "(", ":", "=", "[", "]",
		"[REDACTED_", "[REDACTED_EMAIL]", "_", "\\n", "a", "7", "电话", "：", "Bearer ", "api_key",
	}
	for _, text := range slices.Concat(secrets(), innocents()) {
		plain, _, _ := plainOf(text)
		pieces = append(pieces, plain)
	}
	random := rand.New(rand.NewPCG(1, 2))
	custom, err := scrub.New(nil, []scrub.Pattern{
		{Class: "word", Expression: `[A-Z]{4,}`}, {Class: "email", Expression: `\bRED\w+`}, {Class: "x_9", Expression: `\].`},
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 4000 {
		var b strings.Builder
		for range 1 + random.IntN(6) {
			piece := pieces[random.IntN(len(pieces))]
			from := random.IntN(len(piece))
			b.WriteString(piece[from : from+1+random.IntN(len(piece)-from)])
		}
		for _, s := range []*scrub.Scrubber{everything(t), custom} {
			held(t, s, b.String())
		}
	}
}

// held fails unless nothing is found the second time, and marks say what was counted.
func held(t *testing.T, s *scrub.Scrubber, text string) {
	t.Helper()
	once, found := scrubbed(t, s, text)
	twice, again := scrubbed(t, s, once)
	if twice != once || again != nil {
		t.Fatalf("%q became %q and then %q (%v)", text, once, twice, again)
	}
	marks := 0
	for class, n := range found {
		marks += n
		if strings.Count(once, class.Mark()) < n {
			t.Fatalf("%q became %q, which has fewer than %d of %s", text, once, n, class)
		}
	}
	if (marks == 0) != (once == text) {
		t.Fatalf("%q became %q, and %d were counted", text, once, marks)
	}
}

func FuzzScrub(f *testing.F) {
	for _, text := range slices.Concat(secrets(), innocents()) {
		plain, _, _ := plainOf(text)
		f.Add(plain)
	}
	s := everything(f)
	f.Fuzz(func(t *testing.T, text string) { held(t, s, text) })
}

func TestClassesSwitchedOffAreLeft(t *testing.T) {
	t.Parallel()
	for _, off := range scrub.Classes() {
		s, err := scrub.New([]scrub.Class{off}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range secrets() {
			plain, _, _ := plainOf(text)
			if _, found := scrubbed(t, s, plain); found[off] > 0 {
				t.Errorf("%s is switched off, and was found in %q", off, plain)
			}
		}
	}
}

func TestPatternsOfTheirOwn(t *testing.T) {
	t.Parallel()
	s, err := scrub.New(nil, []scrub.Pattern{{Class: "employee", Expression: `\bEMP-\d{5}\b`}})
	if err != nil {
		t.Fatal(err)
	}
	got, found := scrubbed(t, s, "EMP-12345 wrote to jane@corp.com about EMP-99999")
	want := "[REDACTED_EMPLOYEE] wrote to [REDACTED_EMAIL] about [REDACTED_EMPLOYEE]"
	if got != want || found["employee"] != 2 || found[scrub.Email] != 1 {
		t.Errorf("got %q, %v", got, found)
	}
	for _, bad := range []scrub.Pattern{
		{Class: "", Expression: "x"},
		{Class: "Big", Expression: "x"},
		{Class: "x", Expression: ""},
		{Class: "x", Expression: "a*"},
		{Class: "x", Expression: "(x"},
		{Class: "x", Expression: strings.Repeat("x", scrub.LongestPattern+1)},
	} {
		if _, err := scrub.New(nil, []scrub.Pattern{bad}); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
	tooMany := slices.Repeat([]scrub.Pattern{{Class: "x", Expression: "x"}}, scrub.MostPatterns+1)
	if _, err := scrub.New(nil, tooMany); err == nil {
		t.Error("too many patterns were taken")
	}
}

func BenchmarkScrub(b *testing.B) {
	prose := strings.Repeat("When the deployment fails, "+
		"look at the migration's log first: two of the last three incidents began with a lock. ", 20)
	chinese := strings.Repeat("部署失败时，先看迁移日志：最近三次事故中有两次是因为分析查询从半夜起一直持有锁。", 20)
	log := strings.Repeat("2026-03-14T12:00:00.123Z level=info "+
		"request_id=3f2b8a1c-9d47-4e6b-8c15-7a0e9d3b6f24 status=200 took=12ms ip=192.168.100.200:5432\n", 20)
	code := strings.Repeat("func (s *Server) giveFeedback(ctx context.Context, in *feedbackInput) "+
		"(*feedbackOutput, error) { return s.base.GiveFeedback(ctx) }\n", 20)
	var corpus strings.Builder
	for _, text := range slices.Concat(secrets(), innocents()) {
		plain, _, _ := plainOf(text)
		fmt.Fprintln(&corpus, plain)
	}
	mixed := strings.Repeat(prose+chinese+log+code, 4) + corpus.String()
	s := everything(b)
	for _, sample := range []struct{ name, text string }{
		{"prose", prose}, {"chinese", chinese}, {"log", log}, {"code", code}, {"mixed", mixed}, {"corpus", corpus.String()},
	} {
		b.Run(sample.name, func(b *testing.B) {
			b.SetBytes(int64(len(sample.text)))
			b.ReportAllocs()
			for b.Loop() {
				scrubbed(b, s, sample.text)
			}
		})
	}
}
