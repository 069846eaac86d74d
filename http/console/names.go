package console

import (
	"cmp"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/serve"
)

// A template marks entities and items whose names it does not know. The names are asked for when the page is made, all
// at once, and take the place of the marks. The marks are of Unicode's private use, which no font shows.
const (
	beginsEntity, beginsItem, endsMark = "\uE000", "\uE001", "\uE002"
	beginsInitials                     = "\uE003"
	mostNames                          = 100 // of a page of the API
)

var marks = regexp.MustCompile("[" + beginsEntity + beginsItem + beginsInitials + "]([^<>&\"']*?)" + endsMark)

// who marks an entity or a scope.
func who(entity string) template.HTML {
	return template.HTML(beginsEntity + template.HTMLEscapeString(entity) + endsMark) //nolint:gosec // it is escaped
}

// initialsOf marks an entity that is shown by its initials.
func initialsOf(entity string) template.HTML {
	return template.HTML(beginsInitials + template.HTMLEscapeString(entity) + endsMark) //nolint:gosec // it is escaped
}

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
func titled(id string) template.HTML {
	return template.HTML(beginsItem + template.HTMLEscapeString(id) + endsMark) //nolint:gosec // it is escaped
}

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
		if strings.HasPrefix(string(found[0]), beginsItem) {
			items[string(found[1])] = ""
		} else if name := string(found[1]); strings.Contains(name, ":") {
			entities[name] = ""
		}
	}
	if p.Caller != nil {
		var members api.Page[api.Member]
		p.ask(&members, entities, "member", "v1", "directory")
		for _, m := range members.Items {
			entities[m.Member] = m.DisplayName
		}
		var known api.Page[api.Knowledge]
		p.ask(&known, items, "id", "v1", "knowledge")
		for _, k := range known.Items {
			if k.Status == string(domain.IsErased) {
				items[k.ID] = say(p.Language, "an erased item")
			} else {
				items[k.ID], _ = titleOf(k).(string)
			}
		}
	}
	return marks.ReplaceAllFunc(text, func(found []byte) []byte {
		name := string(marks.FindSubmatch(found)[1])
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
			return []byte(say(p.Language, name))
		case kind == "user":
			shown = id
		default:
			shown = say(p.Language, kind) + " " + id
		}
		return []byte(`<bdi title="` + name + `">` + shown + `</bdi>`)
	})
}

// ask asks for what some names stand for. Without an answer, the names stay.
func (p *page) ask(out any, names map[string]string, parameter string, path ...string) {
	query := url.Values{"limit": {"100"}}
	if parameter == "id" {
		query["status"] = serve.Strings(domain.Statuses) // as far as the reader sees them
	}
	for name := range names {
		query.Add(parameter, name)
	}
	if values := query[parameter]; len(values) > 0 {
		query[parameter] = values[:min(len(values), mostNames)]
		_, _ = p.api.Do(p.r.Context(), client.Request{Method: http.MethodGet, Path: path, Query: query}, out)
	}
}
