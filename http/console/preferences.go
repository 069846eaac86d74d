package console

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
)

// Preferences are what a reader chose about all pages.
type Preferences struct {
	Language string   // en or zh
	Theme    string   // light or dark; empty for that of the system
	Text     string   // markdown, or empty for the text of items as it was written
	Columns  []string // of the list of knowledge, by name
	Views    []Link   // that were saved, by name
}

const (
	languageCookie = "annals-language"
	themeCookie    = "annals-theme"
	textCookie     = "annals-text"
	columnsCookie  = "annals-columns"
	viewsCookie    = "annals-views"
	mostViews      = 3500 // bytes, since browsers drop a cookie beyond 4096
)

// preferencesOf reads the cookies. Without a choice, the browser's languages decide.
func preferencesOf(r *http.Request) Preferences {
	p := Preferences{Language: english, Columns: strings.Split("task.owner.scope.confidence.votes.updated", ".")}
	if strings.HasPrefix(strings.ToLower(r.Header.Get("Accept-Language")), chinese) {
		p.Language = chinese
	}
	if cookie, err := r.Cookie(languageCookie); err == nil && isLanguage(cookie.Value) {
		p.Language = cookie.Value
	}
	if cookie, err := r.Cookie(themeCookie); err == nil && isTheme(cookie.Value) {
		p.Theme = cookie.Value
	}
	if cookie, err := r.Cookie(textCookie); err == nil && isText(cookie.Value) {
		p.Text = cookie.Value
	}
	if cookie, err := r.Cookie(columnsCookie); err == nil && areColumns(cookie.Value) {
		p.Columns = strings.Split(cookie.Value, ".")
	}
	views := viewsOf(r)
	for _, name := range slices.Sorted(maps.Keys(views)) {
		p.Views = append(p.Views, Link{name, localPath(views.Get(name))})
	}
	if query := r.URL.Query(); query.Has("text") && isText(query.Get("text")) {
		p.Text = query.Get("text")
	}
	return p
}

func isLanguage(s string) bool { return s == english || s == chinese }

func isTheme(s string) bool { return s == "light" || s == "dark" || s == "" }

func isText(s string) bool { return s == "markdown" || s == "" }

// areColumns tells whether a text names columns, with dots between them. The task is always the first.
func areColumns(s string) bool { return strings.HasPrefix(s, "task") }

// viewsOf are the addresses of the views that were saved, by their names.
func viewsOf(r *http.Request) url.Values {
	cookie, err := r.Cookie(viewsCookie)
	if err != nil {
		return url.Values{}
	}
	views, _ := url.ParseQuery(cookie.Value) // what is wrong is left out
	return views
}

// savePreferences keeps a choice for a year, and goes back to the page.
func (c *Console) savePreferences(w http.ResponseWriter, r *http.Request) {
	next := localPath(r.PostFormValue("next"))
	keep := func(name, value string) {
		setCookie(w, r, http.Cookie{Name: name, Value: value, Path: Root, Expires: time.Now().AddDate(1, 0, 0)})
	}
	for name, cookie := range map[string]struct {
		name  string
		valid func(string) bool
	}{
		"language": {languageCookie, isLanguage}, "theme": {themeCookie, isTheme}, "text": {textCookie, isText},
		"column": {columnsCookie, areColumns},
	} {
		if value := strings.Join(r.PostForm[name], "."); r.PostForm.Has(name) && cookie.valid(value) {
			keep(cookie.name, value)
		}
	}
	views, name := viewsOf(r), strings.TrimSpace(r.PostFormValue("view"))
	if r.PostForm.Has("unview") {
		views.Del(r.PostFormValue("unview"))
		keep(viewsCookie, views.Encode())
	} else if name != "" {
		if views.Set(name, next); len(views.Encode()) > mostViews {
			c.page(w, r).fail(&problem{
				Status: http.StatusUnprocessableEntity, Title: "This browser cannot keep another view",
				Fix: "Remove one, or choose fewer filters.",
			})
			return
		}
		keep(viewsCookie, views.Encode())
	}
	http.Redirect(w, r, next, http.StatusSeeOther)
}

// The languages of the pages.
const (
	english = "en"
	chinese = "zh"
)

//go:embed chinese.txt
var chineseFile string

// inChinese are the Chinese texts of the pages by their English ones. A test finds those that are missing.
var inChinese = sync.OnceValue(func() map[string]string { return readTexts(chineseFile) })

// readTexts reads a file of texts. The line after each English text is the same in another language, after a tab.
func readTexts(file string) map[string]string {
	texts := map[string]string{}
	text := ""
	for line := range strings.Lines(file) {
		line = strings.TrimSuffix(line, "\n")
		if translated, ok := strings.CutPrefix(line, "\t"); ok {
			texts[text] = translated
		} else {
			text = line
		}
	}
	return texts
}

// say is a text of the pages in a language. The English text is its name, and a format for args.
func say(language, text string, args ...any) string {
	if language == chinese {
		if translated, ok := inChinese()[text]; ok {
			text = translated
		}
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(singular(text, args), args...)
}

// counted is a number and what it counts, in the plural.
var counted = regexp.MustCompile(`^(%d [a-z]{3,})s\b( are\b)?`)

// singular is a format with the singular of what it counts once: 1 event, 2 events.
func singular(format string, args []any) string {
	for i, at := range slices.Backward(verbs.FindAllStringIndex(format, -1)) {
		of := counted.FindStringSubmatch(format[at[0]:])
		if of != nil && i < len(args) && fmt.Sprint(args[i]) == "1" {
			format = format[:at[0]] + of[1] + strings.Replace(of[2], "are", "is", 1) + format[at[0]+len(of[0]):]
		}
	}
	return format
}

// fixed is a text of the server, which may contain values or begin with a name. It stays in English if it has no
// translation.
func fixed(language, text string) string {
	if language != chinese {
		return text
	}
	name, rest, _ := strings.Cut(text, " ")
	return cmp.Or(translated(text), strings.TrimSpace(name+" "+cmp.Or(translated(rest), rest)))
}

// ofCommands is the end of a text that names a command, which the console has no use for.
var ofCommands = regexp.MustCompile(`^annals [a-z].*$|([:;：；]|[,，] ?(as|如) ?)[^:;：；]*\bannals [a-z].*$`)

// translated is the Chinese text of an English one that may contain values; empty if there is none.
func translated(text string) string {
	if exact, is := inChinese()[text]; is {
		return exact
	}
	for english, format := range inChineseFormats() {
		if values := english.FindStringSubmatch(text); values != nil {
			return verbs.ReplaceAllStringFunc(format, func(string) string {
				values = values[1:]
				return values[0]
			})
		}
	}
	return ""
}

// verbs stand for values in a text: %v for any words, the others for one.
var verbs = regexp.MustCompile(`%[a-z]`)

// inChineseFormats are the texts with values by the patterns of their English ones. A text of the server fits one.
var inChineseFormats = sync.OnceValue(func() map[*regexp.Regexp]string {
	all := map[*regexp.Regexp]string{}
	for text, format := range inChinese() {
		if verbs.MatchString(text) {
			pattern := strings.ReplaceAll(regexp.QuoteMeta(text), "%v", "(.+)")
			all[regexp.MustCompile("^"+verbs.ReplaceAllString(pattern, `(\S+)`)+"$")] = format
		}
	}
	return all
})

// languageOf guesses the language of a text that people or agents wrote: Chinese if a sixth of its characters are, and
// none if most are of other scripts. Browsers choose fonts and voices by it.
func languageOf(text string) string {
	han, other, all := 0, 0, 0
	for _, r := range text {
		if unicode.IsSpace(r) {
			continue
		}
		all++
		switch {
		case unicode.Is(unicode.Han, r):
			han++
		case unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r):
			other++
		}
	}
	switch {
	case 2*other > all:
		return ""
	case all > 0 && 6*han >= all:
		return chinese
	}
	return english
}
