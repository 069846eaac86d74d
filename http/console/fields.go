package console

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
)

// revisable are the fields that a reader can revise, and the reason.
func revisable() []field {
	return []field{
		{Name: "task", Label: "Task", Rows: 2},
		{Name: "content", Label: "Content", Rows: 12, Required: true},
		{Name: "abstract", Label: "Abstract", Rows: 3},
		{Name: "overview", Label: "Overview", Rows: 6},
		{Name: "type", Label: "Type", Values: serve.Strings(domain.Types)},
		{Name: "polarity", Label: "Polarity", Values: serve.Strings(domain.Polarities)},
		scopesField(),
		ownerField(),
		{Name: "tags", Label: "Tags, one a line as key: value", Rows: 3},
		reasonField(),
		{Name: "confirm", Label: "Also confirm that it holds", Check: true},
	}
}

// revisableValues are the fields of an item as its form shows them.
func revisableValues(k api.Knowledge) map[string]string {
	var tags []string
	for _, key := range slices.Sorted(maps.Keys(k.Tags)) {
		for _, value := range k.Tags[key] {
			tags = append(tags, key+": "+value)
		}
	}
	return map[string]string{
		"task": k.Task, "content": k.Content, "abstract": k.Abstract, "overview": k.Overview, "type": k.Type,
		"polarity": k.Polarity, "scopes": strings.Join(k.Scopes, "\n"), "owner": k.Owner, "tags": strings.Join(tags, "\n"),
	}
}

// filters are the filters of searches and lists.
func filters() []field {
	return []field{
		{Name: "type", Label: "Type", Values: serve.Strings(domain.Types)},
		{Name: "category", Label: "Category", Values: serve.Strings(domain.Categories)},
		{Name: "context_type", Label: "Kind", Values: serve.Strings(domain.ContextTypes)},
		{Name: "polarity", Label: "Polarity", Values: serve.Strings(domain.Polarities)},
		{Name: "stale", Label: "Reported stale", Values: []string{"true", "false"}},
		{Name: "status", Label: "Status", Values: []string{"active", "superseded"}},
		{Name: "owner", Label: "Owner"},
		{Name: "scope", Label: "Scope"},
		{Name: "tag", Label: "Tag"},
		{Name: "uri", Label: "URI begins with"},
		{Name: "created_from", Label: "Remembered from"},
		{Name: "created_to", Label: "Remembered before"},
	}
}

// filterOf reads the filters of a search.
func filterOf(p *page) (api.Filter, error) {
	f := api.Filter{
		Types: p.values("type"), Category: p.values("category"), ContextType: p.values("context_type"),
		Polarity: p.param("polarity"), Status: p.values("status"), Owner: p.param("owner"), Scope: p.param("scope"),
		URI: p.param("uri"),
	}
	for _, name := range []string{"stale", "contested", "expired"} {
		if value := p.param(name); value != "" && value != "true" && value != "false" {
			return f, wrongField(name, "must be true or false")
		}
	}
	for _, name := range []string{"min_confidence", "max_confidence"} {
		if _, err := strconv.ParseFloat(cmp.Or(p.param(name), "0"), 64); err != nil {
			return f, wrongField(name, "must be a number")
		}
	}
	for name, at := range map[string]**time.Time{"created_from": &f.CreatedFrom, "created_to": &f.CreatedTo} {
		if text := p.param(name); text != "" {
			read, _, err := domain.ParseTime(text, p.Now.UTC())
			if err != nil {
				return f, wrongField(name, err.Error())
			}
			*at = &read
		}
	}
	if stale := p.param("stale"); stale != "" {
		is := stale == "true"
		f.Stale = &is
	}
	if tag := p.param("tag"); tag != "" {
		f.Tags = api.Tags(domain.TagsOf([]string{tag}, ":"))
	}
	return f, nil
}

// presentFilters are the filters that only a list of the present has.
func presentFilters() []field {
	yesNo := []string{"true", "false"}
	return []field{
		{Name: "contested", Label: "Contested", Values: yesNo},
		{Name: "expired", Label: "Confirmation expired", Values: yesNo},
		{Name: "min_confidence", Label: "Confidence from"},
		{Name: "max_confidence", Label: "Confidence to"},
	}
}

// listFilters are the filters of a list of the present or the past.
func listFilters(past bool) []field {
	all := append(filters(), field{Name: "id_prefix", Label: "Id begins with"})
	if past {
		return all
	}
	return append(all, presentFilters()...)
}
