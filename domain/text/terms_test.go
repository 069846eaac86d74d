package text_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"

	"github.com/annals-kb/annals/domain/text"
)

func TestTerms(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text, terms string }{
		{"nothing", "", ""},
		{"signs", "!? -- ... ' . / _ #", ""},
		{"english", "What did Caroline research?", "what do carolin research"},
		{"capitals", "THE Database", "the databas"},
		{"contractions", "don't, she'll, Mel’s", "not she mel"},
		{"an apostrophe inside", "O'Brien", "o'brien o brien"},
		{"camel case", "getUserByID", "getuserbyid get user by id"},
		{"an acronym in front", "HTTPServer", "httpserver http server"},
		{"the plural of an acronym", "userIDs", "userid user id"},
		{"a name with its own capitals", "SQLite sqlite", "sqlite sq lite sqlite"},
		{"snake case", "snake_case_name", "snake_case_name snake case name"},
		{"kebab case", "kebab-case", "kebab-case kebab case"},
		{"underscores around", "__init__", "init"},
		{"a function in a package", "pkg/path.GetUser", "pkg/path.getuser pkg path.getuser path getus get user"},
		{"a file", "file.go:43", "file.go:43 file.go file go 43"},
		{"a path of Windows", `C:\temp`, `c temp`},
		{"a version", "v1.2.3", "v1.2.3 1.2.3 v1 1 2 3"},
		{"an address", "ann@example.com", "ann@example.com ann example.com exampl com"},
		{"languages with signs", "C++ and C# and LGBTQ+", "c c++ and c c# and lgbtq lgbtq+"},
		{"numbers", "3.14 1,000 10:43 007", "3.14 1000 10:43 7"},
		{"a list of numbers", "1,2,3", "1 2 3"},
		{"a date", "2023-05-08", "2023-05-08 2023 5 8"},
		{"ordinals", "the 8th", "the 8"},
		{"letters and digits", "sha256", "sha256 sha 256"},
		{"a hash is no name", "9f86d081884c7d65", "9f86d081884c7d65"},
		{"han", "数据库", "数 据 数据 库 据库"},
		{"one han character", "我", "我"},
		{"han beside latin", "用Go写", "用 go 写"},
		{"traditional and full width", "ＡＰＩ資料", "api 資 料 資料"},
		{"kana", "たべもの", "たべ べも もの"},
		{"half-width kana", "ｶﾞｷ", "ガキ"},
		{"one kana", "の", "の"},
		{"hangul", "한국어 책", "한국 국어 책"},
		{"thai with its marks", "ที่นี่", "ที่นี่"},
		{"accents", "café Müller Straße", "cafe muller strass"},
		{"combining marks", "cafe\u0301", "cafe"},
		{"vietnamese", "Đà Nẵng", "da nang"},
		{"turkish", "İstanbul ılık", "istanbul ilik"},
		{"greek", "ΛΌΓΟΣ λόγος", "λογοσ λογοσ"},
		{"cyrillic", "Ёлка елка", "елка елка"},
		{"arabic with and without vowels", "كِتَاب كتاب", "كتاب كتاب"},
		{"hebrew", "שָׁלוֹם שלום", "שלום שלום"},
		{"devanagari keeps its vowels", "हिन्दी", "हिन्दी"},
		{"emoji", "party 🎉👍🏽", "parti 🎉 👍"},
		{"a heart and how to draw it", "❤️", "❤"},
		{"what is not text", "a\x00b\xff\ufffdc", "a b c"},
		{"hyphens with accents", "Jean-François", "jean francoi jean-francois"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(strings.Join(text.Terms(test.text), " "), test.terms); diff != "" {
				t.Errorf("Terms(%q), got - want +:\n%s", test.text, diff)
			}
		})
	}
}

func TestALongTermIsCutAndStaysDifferent(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("qwertz", 200)
	one, other := text.Terms(long + "x")[0], text.Terms(long + "y")[0]
	if len(one) > text.MaxTermBytes {
		t.Errorf("a term of %d bytes, want at most %d", len(one), text.MaxTermBytes)
	}
	if one == other {
		t.Errorf("two long words became the same term %q", one)
	}
	if again := text.Terms(long + "x")[0]; again != one {
		t.Errorf("got %q, then %q", one, again)
	}
}

func TestTheLengthCountsWordsAndNotTheWaysToWriteThem(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int{
		"": 0, "What did Caroline research?": 4, "数据库": 3, "getUserByID": 4, "pkg/path.Func": 3, "1,000 words": 2, "don't": 1,
	} {
		if _, length := text.TermCounts(s); length != want {
			t.Errorf("TermCounts(%q) has length %d, want %d", s, length, want)
		}
	}
}

func TestAQuestionLosesItsStopWordsUnlessItHasNothingElse(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]string{
		"What did Caroline research?":  "carolin research",
		"to be or not to be":           "to be or not",
		"为什么数据库慢":                      "么数 数据 据库 库慢",
		"是什么":                          "是什",
		"我":                            "我",
		"deploy deploy the Deployment": "deploy",
		"":                             "",
	} {
		var terms []string
		for _, term := range text.Query(question) {
			terms = append(terms, term.Term)
		}
		if got := strings.Join(terms, " "); got != want {
			t.Errorf("Query(%q) = %q, want %q", question, got, want)
		}
	}
}

func TestASmallNumberCountsBesideWordsAlone(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]string{ // behind the bar what counts beside
		"for 2 persons":                "person | 2",
		"checkout-v2 in 05 steps":      "checkout-v2 checkout v2 step | 2 5",
		"HTTP 503, port 5432, Go 1.26": "http 503 port 5432 go 1.26 |",
		"7月的2个人":                       "月的 个人 | 7 2",
		"is it 42 or 7?":               "42 7 |",
	} {
		var words, beside []string
		for _, term := range text.Query(question) {
			if term.Beside {
				beside = append(beside, term.Term)
			} else {
				words = append(words, term.Term)
			}
		}
		if got := strings.TrimSpace(strings.Join(words, " ") + " | " + strings.Join(beside, " ")); got != want {
			t.Errorf("Query(%q) = %q, want %q", question, got, want)
		}
	}
}

func TestAQuestionsTermsAreTermsOfTheSameText(t *testing.T) {
	t.Parallel()
	for _, s := range samples {
		terms := text.Terms(s)
		for _, wanted := range text.Query(s) {
			if !slices.Contains(terms, wanted.Term) {
				t.Errorf("Query(%q) looks for %q, which Terms does not index", s, wanted.Term)
			}
		}
	}
}

// samples have a bit of everything.
var samples = []string{
	"", " ", "a", "’", "''", "'s", "n't", "don't you", "x's'", "1,000,000 and 1,00", "a,1234", "-a-", "..a..b", "C++++",
	"#go#",
	"pkg/path.Func(getUserByID, snake_case) // v1.2.3-rc1+meta", "https://example.com/a?b=c&d=e#f", "\x00\xff\xfe", "__",
	"_a_",
	"What did Caroline research in March 2023?", "数据库迁移失败了，怎么办？", "日本語のテキスト と 한국어", "ﬁne ligature ½ Ⅷ ²",
	"Ёлка и café в İstanbul", "كِتَاب שָׁלוֹם", "हिन्दी ไทย ភាសាខ្មែរ", "👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 ❤️ ©", "e\u0301\u0301\u0301",
	"\u0301", "ｶﾞﾞ", "ー", "゛",
	strings.Repeat("x", 300), strings.Repeat("数", 50), strings.Repeat("é", 60), "a" + strings.Repeat("\u0301", 100),
}

func FuzzTerms(f *testing.F) {
	for _, s := range samples {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		terms := text.Terms(s)
		for _, term := range terms {
			if term == "" || len(term) > text.MaxTermBytes || !utf8.ValidString(term) || strings.ContainsAny(term, "\x00 \n") {
				t.Errorf("Terms(%q) has %q", s, term)
			}
		}
		if again := text.Terms(s); !slices.Equal(again, terms) {
			t.Errorf("Terms(%q) = %q, then %q", s, terms, again)
		}
		counts, length := text.TermCounts(s)
		total := 0
		for _, n := range counts {
			total += n
		}
		if total != len(terms) || length > 2*len(terms) {
			t.Errorf("TermCounts(%q) counts %d of %d terms and %d words", s, total, len(terms), length)
		}
		for _, wanted := range text.Query(s) {
			if counts[wanted.Term] == 0 {
				t.Errorf("Query(%q) looks for %q, which Terms does not index", s, wanted.Term)
			}
		}
	})
}

func TestATextIsCutAsItsCompatibleForm(t *testing.T) {
	t.Parallel()
	for r := rune(utf8.RuneSelf); r < 0x10000; r++ {
		s := "ab" + string(r) + "c知" + string(r) + "识" + string(r)
		if got, want := text.Terms(s), text.Terms(norm.NFKC.String(strings.ToValidUTF8(s, " "))); !slices.Equal(got, want) {
			t.Errorf("Terms(%q) = %q, want %q", s, got, want)
		}
	}
}
