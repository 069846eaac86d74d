package text

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"
)

func TestAQuestionSaysWhatItsQuotesAndExclusionsMean(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		asked            string
		words            string // the same if empty
		phrases, without []string
		remarks          int
	}{
		{asked: "rear extension"},
		{asked: `cost of the "rear extension"`, phrases: []string{"rear extension"}},
		{asked: `“rear extension”?`, phrases: []string{"rear extension"}},
		{asked: "请问“部署窗口”在哪", phrases: []string{"部署窗口"}},
		{asked: `a 5" pipe and a 6" pipe`},
		{asked: `"" and "?"`},
		{asked: `the "rear extension`, remarks: 1},
		{asked: "extension -garage", words: "extension ", without: []string{"garage"}, remarks: 1},
		{asked: "-garage, extension", words: ", extension", without: []string{"garage"}, remarks: 1},
		{asked: `extension -"rear wall" cost`, words: "extension  cost", without: []string{"rear wall"}, remarks: 1},
		{asked: "扩建 -车库", words: "扩建 ", without: []string{"车库"}, remarks: 1},
		{asked: "extension NOT garage", words: "extension ", without: []string{"garage"}, remarks: 1},
		{asked: "extension AND NOT deploy-window", words: "extension AND ", without: []string{"deploy-window"}, remarks: 1},
		{asked: "deploy-window"},
		{asked: "rm -rf, -5 degrees, --flag, 2-3, a - b, kubectl -n prod"},
		{asked: "the server does NOT start"},
		{asked: "DO NOT DEPLOY"},
		{asked: "-garage", remarks: 1},
		{asked: "NOT garage", remarks: 1},
		{asked: "exten*", remarks: 1},
		{asked: "*bold* 2*3 *.go"},
		{asked: strings.Repeat(`"a b" `, 9), remarks: 1},
		{asked: "?!", remarks: 1},
		{asked: ""},
	} {
		q := ReadQuestion(c.asked)
		if c.words == "" {
			c.words = c.asked
		}
		got, want := Question{q.Words, q.Phrases, q.Without, nil}, Question{c.words, c.phrases, c.without, nil}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("%q (-got +want):\n%s", c.asked, diff)
		}
		if len(q.Remarks) != c.remarks {
			t.Errorf("%q has remarks %q, want %d", c.asked, q.Remarks, c.remarks)
		}
	}
}

func TestATextContainsAPhraseOfWholeWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, phrase string
		want         bool
	}{
		{"The Rear\n  extension was finished.", "rear extension", true},
		{"the rear extensions", "rear extension", false},
		{"a rear, an extension", "rear extension", false},
		{norm.NFD.String("Die Zürcher Straße 5"), "zurcher strasse", true},
		{"新部署窗口是周二", "部署窗口", true},
		{"forearm", "arm", false},
		{"the arm", "", false},
	} {
		if got := Contains(c.text, c.phrase); got != c.want {
			t.Errorf("%q contains %q: %v", c.text, c.phrase, got)
		}
	}
}

func FuzzReadQuestion(f *testing.F) {
	f.Add(`a -b "c d" NOT e “f”`)
	f.Fuzz(func(t *testing.T, s string) {
		q := ReadQuestion(s)
		for _, part := range append(q.Phrases, q.Without...) {
			if !strings.Contains(s, part) || part == "" {
				t.Errorf("%q has the condition %q", s, part)
			}
		}
	})
}

func BenchmarkReadQuestion(b *testing.B) {
	for b.Loop() {
		ReadQuestion("how do I call a rate-limited API when the payment service is down?")
	}
}
