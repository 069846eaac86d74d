package console

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/serve"
)

// A template marks entities and items whose names it does not know. The names are asked for when the page is made, all
// at once, and take the place of the marks. The marks are of Unicode's private use, and have a secret of the process,
// so that what people write is no mark.
const (
	beginsEntity, beginsItem, endsMark = "\uE000", "\uE001", "\uE002"
	beginsInitials                     = "\uE003"
	mostNames                          = 100 // of a page of the API
	mostNamed                          = 500 // of a page of the console
)

var (
	markSecret = rand.Text()
	marks      = regexp.MustCompile("[" + beginsEntity + beginsItem + beginsInitials + "]" + markSecret +
		"([^" + endsMark + "]*)" + endsMark)
)

// mark marks what a name takes the place of. Its encoding leaves nothing that templates or pages would escape.
func mark(begin, name string) template.HTML {
	return template.HTML(begin + markSecret + url.QueryEscape(name) + endsMark) //nolint:gosec // it is escaped
}

// who marks an entity or a scope.
func who(entity string) template.HTML { return mark(beginsEntity, entity) }

// initialsOf marks an entity that is shown by its initials.
func initialsOf(entity string) template.HTML { return mark(beginsInitials, entity) }

// initials are the first letters of a name's first and last word, or its last two characters in Chinese, as a face
// would have them.
func initials(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) == 0 {
		return "?"
	}
	first, last := []rune(words[0]), []rune(words[len(words)-1])
	switch {
	case languageOf(words[0]) == chinese:
		return string(first[max(0, len(first)-2):])
	case len(words) == 1:
		return strings.ToUpper(string(first[:min(2, len(first))]))
	}
	return strings.ToUpper(string(first[:1]) + string(last[:1]))
}

// titled marks an item by its id.
func titled(id string) template.HTML { return mark(beginsItem, id) }

// titleOf is the title of an item: its task, or else its first words.
func titleOf(k any) any {
	switch k := k.(type) {
	case *api.Knowledge:
		return titleOf(*k)
	case api.Knowledge:
		return cmp.Or(k.Task, shortened(k.Content, 80), k.ID)
	case api.ItemStanding:
		if k.Task == "" {
			return titled(k.ID)
		}
		return k.Task
	}
	return ""
}

// named puts names in the place of marks.
func (p *page) named(text []byte) []byte {
	entities, items := map[string]string{}, map[string]string{}
	for _, found := range marks.FindAllSubmatch(text, -1) {
		switch name := unmarked(found); {
		case strings.HasPrefix(string(found[0]), beginsItem):
			items[name] = ""
		case strings.Contains(name, ":"):
			entities[name] = ""
		}
	}
	if p.Caller != nil {
		for _, m := range ask[api.Member](p, entities, "member", "v1", "directory") {
			entities[m.Member] = m.DisplayName
		}
		for _, k := range ask[api.Knowledge](p, items, "id", "v1", "knowledge") {
			if k.Status == string(domain.IsErased) {
				items[k.ID] = say(p.Language, "an erased item")
			} else {
				items[k.ID], _ = titleOf(k).(string)
			}
		}
	}
	return marks.ReplaceAllFunc(text, func(found []byte) []byte {
		name := unmarked(marks.FindSubmatch(found))
		if strings.HasPrefix(string(found), beginsItem) {
			title := cmp.Or(items[name], name)
			return fmt.Appendf(nil, `<bdi lang="%s">%s</bdi>`, languageOf(title), template.HTMLEscapeString(title))
		}
		kind, id, isEntity := strings.Cut(name, ":")
		shown := entities[name]
		if strings.HasPrefix(string(found), beginsInitials) {
			return []byte(template.HTMLEscapeString(initials(cmp.Or(shown, id, kind))))
		}
		switch {
		case shown != "":
			shown = template.HTMLEscapeString(shown)
		case !isEntity:
			return []byte(template.HTMLEscapeString(say(p.Language, name)))
		case kind == "user":
			shown = template.HTMLEscapeString(id)
		default:
			shown = template.HTMLEscapeString(say(p.Language, kind) + " " + id)
		}
		return []byte(`<bdi title="` + template.HTMLEscapeString(name) + `">` + shown + `</bdi>`)
	})
}

// unmarked is what a mark that was found stands for.
func unmarked(found [][]byte) string {
	name, _ := url.QueryUnescape(string(found[1]))
	return name
}

// ask asks for what some names stand for. Without an answer, the names stay.
func ask[T any](p *page, names map[string]string, parameter string, path ...string) (all []T) {
	wanted := slices.Collect(maps.Keys(names))
	for some := range slices.Chunk(wanted[:min(len(wanted), mostNamed)], mostNames) {
		query := url.Values{"limit": {strconv.Itoa(mostNames)}, parameter: some}
		if parameter == "id" {
			query["status"] = serve.Strings(domain.Statuses) // as far as the reader sees them
		}
		var found api.Page[T]
		_, _ = p.api.Do(p.r.Context(), client.Request{Method: http.MethodGet, Path: path, Query: query}, &found)
		all = append(all, found.Items...)
	}
	return all
}
