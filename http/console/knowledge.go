package console

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/annals-kb/annals/http/api"
)

// list is a page of knowledge, newest first unless it is sorted.
type list struct {
	form                  // of the filters
	Columns  []listColumn // that are shown
	Chosen   []listColumn // all, to choose from
	Items    []api.Knowledge
	Next     string
	Counts   *api.Overview // nil in the past
	Facets   []facet
	Selected map[string]bool // the ids that come with the address
	Versus   *versus         // the list at two moments; nil for one
}

// listColumn is a column. One without a sort is not sortable.
type listColumn struct {
	Name, Label, Sort string
	Shown             bool
	Address, Sorted   string // of its head
}

// facet is a filter with the values to choose from.
type facet struct {
	Label  string
	Values []facetValue
	More   bool
	Own    bool // the values are words of the console, which are translated
}

// facetValue is a value, how many items have it, and the address of the list of these.
type facetValue struct {
	Text    any
	Items   int
	Share   float64 // of the most frequent value
	Address string
	Current bool // the list is filtered by it
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

// listQuery are the filters and the order of a list of knowledge.
func listQuery(p *page, sorted bool) url.Values {
	query := p.asOf(p.params(namesOf(listFilters(p.Moment.Past()))...))
	if sorted && p.param("sort") != "" && !p.Moment.Past() {
		maps.Copy(query, p.params("sort", "order"))
	}
	return query
}

// listKnowledge lists what passes the filters. If the API refuses one, the form stays.
func listKnowledge(p *page) (any, error) {
	if p.param("q") != "" { // only a search finds words
		http.Redirect(p.w, p.r, p.To("search", "q", p.Line()), http.StatusSeeOther)
		return nil, errAnswered
	}
	data := &list{
		form: *newForm(p, listFilters(p.Moment.Past())), Chosen: columnsOf(p), Selected: map[string]bool{},
	}
	data.Columns = slices.DeleteFunc(slices.Clone(data.Chosen), func(c listColumn) bool { return !c.Shown })
	for _, id := range p.values("id") {
		data.Selected[id] = true
	}
	if err := data.read(p); err != nil {
		data.Versus, data.Items, data.Next = nil, nil, ""
		return nil, data.failed(p, err, "knowledge", data)
	}
	return data, nil
}

// read reads the items and the counts of the list.
func (l *list) read(p *page) error {
	query := listQuery(p, true)
	query.Set("limit", "50")
	var err error
	if l.Versus, err = versusOf(p); err != nil {
		return err
	}
	if l.Versus != nil {
		return l.Versus.compareLists(p, query)
	}
	maps.Copy(query, p.params("cursor"))
	if l.Items, l.Next, err = pageOf[api.Knowledge](p, query, "v1", "knowledge"); err != nil {
		return err
	}
	if p.Moment.Past() {
		return nil
	}
	var counts api.Overview
	if err := p.get(&counts, listQuery(p, false), "v1", "overview"); err != nil {
		return err
	}
	l.Counts, l.Facets = &counts, facetsOf(p, &counts)
	return nil
}

// listColumns are the columns that a reader may choose.
func listColumns() []listColumn {
	return []listColumn{
		{Name: "task", Label: "Task"},
		{Name: "type", Label: "Type"},
		{Name: "owner", Label: "Owner"},
		{Name: "scope", Label: "Scope"},
		{Name: "confidence", Label: "Confidence", Sort: "confidence"},
		{Name: "votes", Label: "Votes", Sort: "harmful"},
		{Name: "stale", Label: "Stale", Sort: "stale"},
		{Name: "tags", Label: "Tags"},
		{Name: "created", Label: "Remembered"},
		{Name: "updated", Label: "Updated", Sort: "updated"},
	}
}

// columnsOf are the columns with what the reader chose. The link of a sorted column turns its order around.
func columnsOf(p *page) []listColumn {
	all := listColumns()
	for i := range all {
		column := &all[i]
		column.Shown = slices.Contains(p.Columns, column.Name)
		if p.Moment.Past() || column.Sort == "" {
			continue
		}
		order := ""
		if p.param("sort") == column.Sort {
			column.Sorted = "descending"
			if order = "asc"; p.param("order") == "asc" {
				column.Sorted, order = "ascending", ""
			}
		}
		column.Address = p.With("sort", column.Sort, "order", order)
	}
	return all
}

// facetsOf are the filters that counts lead to.
func facetsOf(p *page, counts *api.Overview) []facet {
	attention := api.Facet{Counts: []api.ValueCount{
		{Value: "stale", Items: counts.Stale},
		{Value: "expired", Items: counts.Expired},
		{Value: "contested", Items: counts.Contested},
	}}
	all := []facet{
		facetOf(p, "Needs attention", "", attention), facetOf(p, "Status", "status", counts.Statuses),
		facetOf(p, "Type", "type", counts.Types), facetOf(p, "Category", "category", counts.Categories),
		confidenceFacet(p, counts), facetOf(p, "Scope", "scope", counts.Scopes), facetOf(p, "Owner", "owner", counts.Owners),
		facetOf(p, "Tag", "tag", counts.Tags),
	}
	return ownWords(all, 4)
}

// ownWords marks the first facets as those whose values are words of the console, and drops the empty ones.
func ownWords(all []facet, first int) []facet {
	for i := range all[:first] {
		all[i].Own = true
	}
	return slices.DeleteFunc(all, func(f facet) bool { return len(f.Values) == 0 })
}

// facetOf is a facet of a filter. Without a name, each value is a filter of its own.
func facetOf(p *page, label, name string, counts api.Facet) facet {
	f := facet{Label: label, More: counts.More}
	most := 1
	for _, count := range counts.Counts {
		most = max(most, count.Items)
	}
	for _, count := range counts.Counts {
		parameter, value, text := name, count.Value, filterValue(name, count.Value)
		if name == "" {
			parameter, value, text = count.Value, "true", any(attentionLabels[count.Value])
		}
		one := facetValue{Text: text, Items: count.Items, Share: float64(count.Items) / float64(most)}
		if one.Current = slices.Contains(p.values(parameter), value); one.Current {
			one.Address = p.With(parameter, "")
		} else {
			one.Address = p.With(parameter, value)
		}
		if count.Items > 0 || one.Current {
			f.Values = append(f.Values, one)
		}
	}
	return f
}

var attentionLabels = map[string]string{
	"stale": "Reported stale", "expired": "confirmation expired", "contested": "contested",
}

// confidenceFacet are the tenths of the confidence that items have, the highest first. A tenth ends just below the
// next.
func confidenceFacet(p *page, counts *api.Overview) facet {
	f := facet{Label: "Confidence"}
	most := 1
	for _, tenth := range counts.Confidence {
		most = max(most, tenth.Items)
	}
	for _, tenth := range slices.Backward(counts.Confidence) {
		if tenth.Items == 0 {
			continue
		}
		from, to := decimal(tenth.From), decimal(tenth.To)
		end := to
		if tenth.To < 1 {
			end = decimal(tenth.To - 0.0001)
		}
		one := facetValue{Text: from + " – " + to, Items: tenth.Items, Share: float64(tenth.Items) / float64(most)}
		one.Current = p.param("min_confidence") == from && p.param("max_confidence") == end
		if one.Address = p.With("min_confidence", from, "max_confidence", end); one.Current {
			one.Address = p.With("min_confidence", "", "max_confidence", "")
		}
		f.Values = append(f.Values, one)
	}
	return f
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
