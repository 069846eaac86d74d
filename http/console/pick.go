package console

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// The kinds of entities that fields take.
var (
	anyone = []string{"user", "team", "project", "org", "agent"}
	groups = anyone[1:4]
)

// mostKnown limits the members of each kind that a field offers.
const mostKnown = 100

// membersLike are active members of some kinds whose ids or names contain a text, at most so many of each kind. Who may
// not read the directory finds none.
func membersLike(p *page, kinds []string, text string, most int) (all []api.Member) {
	for _, kind := range kinds {
		request := client.Get("v1", "directory")
		request.Query = url.Values{"kind": {kind}, "limit": {strconv.Itoa(most)}}
		if text != "" {
			request.Query.Set("q", text)
		}
		var got api.Page[api.Member]
		_, _ = p.api.Do(p.r.Context(), request, &got)
		all = append(all, got.Items...)
	}
	return slices.DeleteFunc(all, func(m api.Member) bool { return !m.Active })
}

// Large tells whether a field cannot offer everybody at once.
func (f *form) Large() bool {
	if f.members == nil {
		f.members = membersLike(f.page, anyone, "", mostKnown)
	}
	return len(f.members) >= mostKnown
}

// showKnown answers with what a field of a large directory offers for what is typed into it.
func showKnown(p *page) (any, error) {
	typed := field{Name: p.param("name"), Kinds: p.values("kind")}
	members := membersLike(p, typed.Kinds, p.param(typed.Name), mostKnown)
	return &form{Fields: []field{typed}, page: p, members: members}, nil
}

// Known are entities that a field offers, first those that the reader belongs to.
func (f *form) Known(field field) []api.Member {
	var own, rest []api.Member
	for _, group := range f.page.Caller.Memberships {
		if kind, _, _ := strings.Cut(group, ":"); slices.Contains(field.Kinds, kind) {
			own = append(own, api.Member{Member: group})
		}
	}
	if field.Name == "scopes" && f.page.Caller.PublishPublic {
		own = append(own, api.Member{Member: "public", DisplayName: say(f.page.Language, "public")})
	}
	for _, m := range f.members {
		kind, _, _ := strings.Cut(m.Member, ":")
		if i := slices.IndexFunc(own, func(o api.Member) bool { return o.Member == m.Member }); i >= 0 {
			own[i] = m
		} else if slices.Contains(field.Kinds, kind) {
			rest = append(rest, m)
		}
	}
	return append(own, rest...)
}

// Entries are what the inputs of a field hold: for several entities, two more are empty.
func (f *form) Entries(field field) []string {
	if field.Several {
		return append(linesOf(f.Values[field.Name]), "", "")
	}
	return []string{f.Values[field.Name]}
}

// pick keeps the entities that were typed into a field, as ids. A text that is none stays: the API refuses it.
func (f *form) pick(field field, typed []string) {
	var found []string
	ends := func(r rune) bool { return r == '\n' || r == ',' && field.Several }
	for _, text := range strings.FieldsFunc(unixLines(strings.Join(typed, "\n")), ends) {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		entity, why := entityOf(f.page, field.Kinds, text)
		if found = append(found, entity); why != "" {
			f.unknown[field.Name] = append(f.unknown[field.Name], why)
		}
	}
	f.Values[field.Name] = strings.Join(found, "\n")
}

// entityOf is the entity that somebody typed: an id, or the name or the id without its kind of one member alone.
// Otherwise why names those that come near.
func entityOf(p *page, kinds []string, typed string) (entity, why string) {
	kind, _, isEntity := strings.Cut(typed, ":")
	if isEntity && slices.Contains(anyone, kind) || typed == "public" || typed == "all" {
		return typed, ""
	}
	var same, near []string
	for _, m := range membersLike(p, kinds, typed, 500) {
		shown := strings.TrimSpace(m.DisplayName + " " + m.Member)
		if _, id, _ := strings.Cut(m.Member, ":"); id == typed || strings.EqualFold(m.DisplayName, typed) {
			entity, same = m.Member, append(same, shown)
		}
		near = append(near, shown)
	}
	list := func(some []string) string { return strings.Join(some[:min(len(some), 9)], ", ") }
	switch {
	case len(same) == 1:
		return entity, ""
	case len(same) > 1:
		return typed, say(p.Language, "Several are called %s: %s", typed, list(same))
	case len(near) > 0:
		return typed, say(p.Language, "Nobody is called %s. Similar: %s", typed, list(near))
	}
	return typed, say(p.Language, "%s must be a name in the directory, or an id such as %s:1", typed, kinds[0])
}
