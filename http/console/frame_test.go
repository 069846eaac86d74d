package console

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/codec"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/egress"
)

// texts are the English texts of the templates and of Go code that says them.
func texts(t *testing.T) []string {
	t.Helper()
	inTemplates := regexp.MustCompile(`[{(]-? ?t "((?:[^"\\]|\\.)+)"`)
	inProblems := regexp.MustCompile(`(?:Status: [a-zA-Z.]+, Title|Fix): "([^"]+)"`)
	var all []string
	names, err := fs.Glob(viewFiles, "views/*.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		source, err := viewFiles.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range inTemplates.FindAllStringSubmatch(string(source), -1) {
			all = append(all, match[1])
		}
	}
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sources { // problems, which parts.html translates
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range inProblems.FindAllStringSubmatch(string(source), -1) {
			all = append(all, match[1])
		}
	}
	all = slices.AppendSeq(slices.AppendSeq(all, maps.Values(readerReasons())), maps.Values(projectionNames()))
	for _, how := range []string{openAuthentication, "key:1", "system", ""} {
		all = append(all, provedBy(how))
	}
	for _, m := range workMoments() {
		all = append(all, m.Label)
	}
	for _, g := range settingGroups() {
		all = append(all, g.Label)
	}
	all = slices.AppendSeq(slices.AppendSeq(all, maps.Values(modelLabels())), maps.Values(decisionLabels()))
	all = slices.AppendSeq(slices.AppendSeq(all, maps.Values(editLabels())), maps.Values(kinLabels()))
	for _, f := range filters() {
		all = append(append(all, f.Label), f.Values...)
	}
	for _, f := range slices.Concat(searchers(), eventFilters()) {
		all = append(all, f.Label)
	}
	forms := []act{
		{Fields: newKeyFields()},
		{Fields: tenantFields()},
		{Fields: rememberFields()},
		{Fields: actingFields(true)},
		{Fields: resourceFields()},
		{Fields: memberFields()},
		{Fields: policyFields()},
		{Fields: containFields()}, // part: contain
		{Fields: subscriptionFields()},
		{Fields: orderFields()},
	}
	forms = append(forms, containActs()...) // part: contain
	for _, a := range slices.Concat(allActs(), keyActs(), operations(), resourceActs(), peopleActs(), pairActs(), policyActs(), subscriptionActs(), formsDone(), forms) {
		all = append(all, a.Label, a.Explain, a.Done)
		for _, f := range a.Fields {
			all = append(all, f.Label)
			if f.Name != "days" { // whose values are numbers
				all = append(all, f.Values...)
			}
		}
	}
	for _, c := range classes() {
		all = append(all, c.Label)
	}
	for _, k := range memberKinds() {
		all = append(all, k.Label)
	}
	for _, s := range (api.Digest{}).Sections() {
		all = append(all, s.Title)
	}
	for _, r := range reports() {
		all = append(all, r.Title, r.Explain)
		for _, f := range r.Fields {
			all = append(all, f.Label)
		}
		for _, c := range r.Columns {
			all = append(all, c.Label)
		}
	}
	all = slices.AppendSeq(append(all, codec.Names()...), maps.Keys(domain.SubscribedEvents))
	all = slices.DeleteFunc(all, func(text string) bool { return text == "" })
	return all
}

func TestEveryTextHasAChineseOne(t *testing.T) {
	t.Parallel()
	all := texts(t)
	if len(all) < 100 {
		t.Fatalf("found %d texts only", len(all))
	}
	for _, text := range all {
		translated, ok := inChinese()[text]
		if !ok {
			t.Errorf("%q has no Chinese text", text)
		} else if got, want := verbs.FindAllString(translated, -1), verbs.FindAllString(text, -1); !slices.Equal(got, want) {
			t.Errorf("%q takes %v, in Chinese %v", text, want, got)
		}
	}
}

func TestTextsOfTheServerAreSaidInChineseWithTheirValues(t *testing.T) {
	t.Parallel()
	if got, want := fixed(chinese, "answered with status 418"), "答复状态为 418"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	all := []string{"no answer in time", "no connection", "the name leads into a private network", "the URL cannot be used"}
	for _, address := range []string{"", "https://a@b.example", "https://localhost", "http://b.example"} {
		all = append(all, egress.CheckURL(address, false))
	}
	const head = "member,display_name,active,groups\n"
	for _, file := range []string{"x", `{"member": 1}`, head + "user:a,,,team:b=boss\nuser:a\nno body\n"} {
		_, _, err := client.ReadDirectory(strings.NewReader(file))
		if err == nil {
			t.Fatal(file)
		}
		all = append(all, strings.Split(err.Error(), "\n")...)
	}
	var directory [2][]api.Member
	for i, rows := range []string{
		"user:a,A,true,team:a\nuser:b,,false,\nuser:c,,true,team:a\nuser:d,,true,\n",
		"user:a,B,true,team:b\nuser:b,,true,\nuser:c,,false,team:a=maintainer\nuser:e,,true,\n",
	} {
		directory[i], _, _ = client.ReadDirectory(strings.NewReader(head + rows))
	}
	for _, change := range client.DirectoryChanges(directory[0], directory[1], true) {
		all = append(all, change.What)
	}
	for _, c := range []domain.Subscribe{
		{Events: []string{"none"}},
		{Follow: domain.Following{Scope: "x"}},
		{Follow: domain.Following{Item: "?"}},
		{Follow: domain.Following{Scope: "team:?"}},
		{Note: strings.Repeat("x", 1000)},
		{Note: "\x00"},
		{Note: "\xff"},
	} {
		_, err := c.Complete()
		invalid, _ := errors.AsType[*domain.Invalid](err)
		for _, p := range invalid.Problems {
			all = append(all, p.Message)
		}
	}
	for _, text := range all {
		if said := fixed(chinese, text); !strings.ContainsFunc(said, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
			t.Errorf("%q is said as %q", text, said)
		}
	}
}

func TestACountHasTheRightNumber(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		format string
		args   []any
		want   string
	}{
		{"%d events", []any{1}, "1 event"},
		{"%d events", []any{int64(2)}, "2 events"},
		{"%d events", []any{0}, "0 events"},
		{"%d votes by %d voters", []any{2, 1}, "2 votes by 1 voter"},
		{"%d keys are revoked", []any{1}, "1 key is revoked"},
		{"%s is %d events behind", []any{"1 events", 1}, "1 events is 1 event behind"},
		{"%d was left", []any{1}, "1 was left"},
	} {
		if got := say(english, one.format, one.args...); got != one.want {
			t.Errorf("got %q, want %q", got, one.want)
		}
	}
}

// A position is written as #1,281 everywhere, and no word that takes a date stands before "in 23 h".
func TestPositionsAndTimesAreWrittenInOneWay(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(viewFiles, "views/*.html")
	if err != nil {
		t.Fatal(err)
	}
	bad := regexp.MustCompile(`#\{\{[^}]*Position\b|#%d|\b(by|until|before|at|on)"\}\} ?\{\{template "time"`)
	for _, name := range names {
		source, err := viewFiles.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range bad.FindAllString(string(source), -1) {
			if !strings.Contains(found, "{number") {
				t.Errorf("%s: %s", name, found)
			}
		}
	}
}

func TestTemplatesHaveNoTextOfTheirOwn(t *testing.T) {
	t.Parallel()
	// what stays as it is in every language
	names := strings.NewReplacer("Annals", "", "English", "", "中文", "", "CSV", "", "JSON", "", "Enter", "", "OpenViking", "", "MCP", "", "annals key create", "")
	actions := regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	code := regexp.MustCompile(`(?s)<(code|kbd)[^>]*>.*?</(code|kbd)>`)
	tags := regexp.MustCompile(`(?s)<[^>]*>`)
	spoken := regexp.MustCompile(`(aria-label|title|placeholder|alt)="([^"{]*[A-Za-z][^"]*)"`)
	letters := regexp.MustCompile(`[A-Za-z]{2,}`)
	views, err := fs.Glob(viewFiles, "views/*.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range views {
		source, err := viewFiles.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		plain := names.Replace(actions.ReplaceAllString(string(source), "")) // a tag may contain an action
		for _, match := range spoken.FindAllString(plain, -1) {
			t.Errorf("%s: %s is in English only", name, match)
		}
		rest := tags.ReplaceAllString(code.ReplaceAllString(plain, ""), "")
		for _, word := range letters.FindAllString(rest, -1) {
			if !slices.Contains([]string{"DOCTYPE", "ms", "viking"}, word) {
				t.Errorf("%s: %q is in English only", name, word)
			}
		}
	}
}

func TestNoCodeWritesHTMLByItself(t *testing.T) {
	t.Parallel()
	source, err := fs.Glob(viewFiles, "views/*.html")
	if err != nil {
		t.Fatal(err)
	}
	inline := regexp.MustCompile(`(?i)<script(?:[^>]*)>[^<]|<style|\son[a-z]+=|\sstyle=|javascript:|hx-on`)
	for _, name := range source {
		text, err := viewFiles.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if found := inline.FindString(string(text)); found != "" {
			t.Errorf("%s contains %q, which the content policy forbids", name, found)
		}
	}
}

func TestALoginLeadsOnlyToPagesOfTheConsole(t *testing.T) {
	t.Parallel()
	for next, want := range map[string]string{
		"/console/log?actor=user%3Ab": "/console/log?actor=user%3Ab", "/console/": "/console/", "": Root, "/": Root,
		"https://evil.example/console/": Root, "//evil.example/console/": Root, `/\evil.example/console/`: Root,
		`/console/\evil`: Root, "/console/../v1/keys": Root, "javascript:alert(1)": Root, "/consoles/": Root,
		"/console//evil.example": Root, "console/": Root,
	} {
		if got := localPath(next); got != want {
			t.Errorf("%q leads to %q, want %q", next, got, want)
		}
	}
}

// Patterns are those of all pages.
func Patterns() []string { return slices.Sorted(maps.Keys(pages())) }
