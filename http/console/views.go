package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
)

//go:embed views/*.html
var viewFiles embed.FS

// views are the templates of all pages, by language and name.
type views map[string]map[string]*template.Template

// parsedViews are the templates. They are parsed when the first page is shown, once for all consoles of a process: each
// page keeps a copy of the frame, and it takes some 30 ms.
var parsedViews = sync.OnceValue(func() views { return parseViews(loadedAssets()) })

// loadedAssets are the files that pages load.
var loadedAssets = sync.OnceValue(loadAssets)

// parseViews parses every page with the frame, once for each language.
func parseViews(files assets) views {
	all := views{}
	names, err := fs.Glob(viewFiles, "views/*.html")
	if err != nil {
		panic(err) // the pattern is constant
	}
	for _, language := range []string{english, chinese} {
		all[language] = map[string]*template.Template{}
		frame := template.Must(template.New("").Funcs(functions(language, files)).
			ParseFS(viewFiles, "views/frame.html", "views/parts.html"))
		for _, name := range names {
			page := strings.TrimSuffix(path.Base(name), ".html")
			if page != "frame" && page != "parts" {
				all[language][page] = template.Must(template.Must(frame.Clone()).ParseFS(viewFiles, name))
			}
		}
	}
	return all
}

// functions are what templates may call.
func functions(language string, files assets) template.FuncMap {
	return template.FuncMap{
		"t":       func(text string, args ...any) string { return say(language, text, args...) },
		"asset":   files.address,
		"when":    func(at any) shownTime { return timeOf(language, at, time.Now()) },
		"date":    func(t time.Time) string { return t.UTC().Format(time.DateOnly) },
		"number":  grouped,
		"decimal": func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) },
		"percent": percent,
		"dict":    dict,
		"keeps":   keeps,
		"join":    strings.Join,
		"langOf":  languageOf,
		"hundred": func(x float64) string { return strconv.FormatFloat(100*min(max(x, 0), 1), 'f', 1, 64) },
		"who":     who,
		"face":    initialsOf,
		"titled":  titled,
		"titleOf": titleOf,
		"month":   func(t time.Time) string { return monthOf(language, t, time.Now()) },
		"short":   func(text any) string { return shortened(fmt.Sprint(text), 80) },
		"count": func(n *int) int {
			if n == nil {
				return 0
			}
			return *n
		},
		"others":     others,
		"add":        func(a, b int64) int64 { return a + b },
		"sub":        func(a, b int) int { return a - b },
		"split":      strings.Fields,
		"markdown":   markdown,
		"withNow":    withNow,
		"folded":     folded,
		"shown":      filterValue,
		"happened":   happened,
		"statusName": statusName,
		"projected":  func(name string) string { return say(language, projectionName(name)) },
		"proved":     func(how string) string { return say(language, provedBy(how)) },
		"follows":    follows,
		"tone":       deliveryTone,
		"event":      func(name string) string { return eventOf(language, name) },
		"fixed":      func(text string) string { return fixed(language, text) },
		"told":       func(text string) string { return ofCommands.ReplaceAllString(fixed(language, text), "") },
		"bytes":      bytesOf,
		"lasting":    func(seconds float64) string { return lasting(language, seconds) },
	}
}

// percent is a share as every page writes it.
func percent(x float64) string { return strconv.FormatFloat(100*x, 'f', 0, 64) + " %" }

// others counts the helpful votes without the author's own, as the command line does.
func others(helpful *int) int {
	if helpful == nil {
		return 0
	}
	return max(*helpful-1, 0)
}

// monthOf is the month of a time, with its year unless that is plain.
func monthOf(language string, t, now time.Time) string {
	layout := map[bool]string{true: "2006 年 1 月", false: "January 2006"}[language == chinese]
	if ahead := t.Sub(now); 0 < ahead && ahead < 300*24*time.Hour {
		layout = map[bool]string{true: "1 月", false: "January"}[language == chinese]
	}
	return t.UTC().Format(layout)
}

// statusName is the word for an item's status.
func statusName(status string) string {
	if status == "deleted" {
		return "forgotten"
	}
	return status
}

// shortened is the beginning of a text, on one line.
func shortened(s string, most int) string {
	words := strings.Join(strings.Fields(s), " ")
	if characters := []rune(words); len(characters) > most {
		return string(characters[:most]) + "…"
	}
	return words
}

// dict makes a map of names and values, for templates that take several.
func dict(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return m
}

// grouped writes a whole number with a separator every three digits.
func grouped(n any) string {
	whole, err := strconv.ParseInt(fmt.Sprint(n), 10, 64)
	if err != nil {
		return fmt.Sprint(n)
	}
	return humanize.Comma(whole)
}

// exactTime is how pages write a time exactly.
const exactTime = "2006-01-02 15:04:05 UTC"

// shownTime is a time as a page shows it.
type shownTime struct{ ISO, Exact, Relative string }

// timeOf writes a time, or nothing for a nil pointer.
func timeOf(language string, at any, now time.Time) shownTime {
	var t time.Time
	switch at := at.(type) {
	case time.Time:
		t = at
	case *time.Time:
		if at != nil {
			t = *at
		}
	}
	if t.IsZero() {
		return shownTime{}
	}
	t = t.UTC()
	return shownTime{t.Format(time.RFC3339Nano), t.Format(exactTime), relative(language, t, now)}
}

// relative says how long ago a time was. Beyond a month it is the date.
func relative(language string, t, now time.Time) string {
	ago, future := now.Sub(t).Abs(), t.After(now)
	switch {
	case ago < time.Second, ago < 45*time.Second && !future:
		return say(language, "just now")
	case ago >= 31*24*time.Hour:
		return t.Format(time.DateOnly)
	}
	length := lengthOf(language, ago)
	if future {
		return say(language, "in %s", length)
	}
	return say(language, "%s ago", length)
}

// lengthOf writes a length of time in one unit.
func lengthOf(language string, length time.Duration) string {
	switch {
	case length < 45*time.Second:
		return say(language, "%d s", int(length/time.Second))
	case length < time.Hour:
		return say(language, "%d min", int((length+30*time.Second)/time.Minute))
	case length < 24*time.Hour:
		return say(language, "%d h", int(length/time.Hour))
	}
	return say(language, "%d d", int(length/(24*time.Hour)))
}

// turning are the characters that change the direction of a text and are invisible, after what must stay as it is.
var turning = regexp.MustCompile(`(?s)<(?:textarea|title|option)\b.*?</|<[^>]*>|[\x{202A}-\x{202E}\x{2066}-\x{2069}]`)

// marked shows the characters that change the direction of a text, except in attributes and in what forms send back.
func marked(page []byte) []byte {
	if !bytes.ContainsAny(page, "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069") {
		return page
	}
	return turning.ReplaceAllFunc(page, func(found []byte) []byte {
		if found[0] == '<' {
			return found
		}
		r, _ := utf8.DecodeRune(found)
		return fmt.Appendf(nil, `<span class="turning">U+%04X</span>`, r)
	})
}

//go:embed assets
var assetFiles embed.FS

// assets are the files that pages load, by name. A file's address contains a part of its hash, so browsers may keep
// it for ever.
type assets map[string]asset

type asset struct {
	hash, kind string
	body       []byte
}

func loadAssets() assets {
	all := assets{}
	err := fs.WalkDir(assetFiles, "assets", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := assetFiles.ReadFile(name)
		sum := sha256.Sum256(body)
		all[path.Base(name)] = asset{hex.EncodeToString(sum[:6]), mime.TypeByExtension(path.Ext(name)), body}
		return err
	})
	if err != nil {
		panic(err) // the files are in the program
	}
	return all
}

// address is where a page loads a file from.
func (a assets) address(name string) string {
	base, extension, _ := strings.Cut(name, ".")
	return Root + "assets/" + base + "." + a[name].hash + "." + extension
}

func (a assets) serve(w http.ResponseWriter, r *http.Request) {
	base, rest, _ := strings.Cut(r.PathValue("name"), ".")
	hash, extension, _ := strings.Cut(rest, ".")
	file, known := a[base+"."+extension]
	if !known || hash != file.hash {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", file.kind)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(file.body) // the browser may have left
}

// manifest describes the console to a browser that puts it on a home screen. It needs no session, and nothing is kept
// to be read without the server.
func (a assets) manifest(w http.ResponseWriter, _ *http.Request) {
	type icon struct {
		Src   string `json:"src"`
		Sizes string `json:"sizes"`
		Type  string `json:"type"`
	}
	w.Header().Set("Content-Type", "application/manifest+json")
	_ = json.NewEncoder(w).Encode(struct { // the browser may have left
		Name       string `json:"name"`
		ID         string `json:"id"`
		StartURL   string `json:"start_url"`
		Scope      string `json:"scope"`
		Display    string `json:"display"`
		Background string `json:"background_color"`
		Theme      string `json:"theme_color"`
		Icons      []icon `json:"icons"`
	}{
		"Annals", Root, Root, Root, "standalone", "#f7f7f4", "#1f5f5b",
		[]icon{{a.address("icon.png"), "512x512", "image/png"}, {a.address("icon.svg"), "any", "image/svg+xml"}},
	})
}
