package serve

import (
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/annals-kb/annals/http/body"
)

// parameterForm tells how a parameter may be given. If a required one is missing, its operation says so.
type parameterForm struct{ repeatable, required bool }

// queryNames are the query parameters of an input.
func queryNames(input reflect.Type) map[string]parameterForm {
	names := map[string]parameterForm{}
	for _, field := range reflect.VisibleFields(input) {
		if name, _, _ := strings.Cut(field.Tag.Get("query"), ","); name != "" {
			names[name] = parameterForm{
				repeatable: field.Type.Kind() == reflect.Slice, required: field.Tag.Get("required") == "true",
			}
		}
	}
	return names
}

// mayBeEmpty are the parameters that accept an empty value.
var mayBeEmpty = []string{"reason", "legal_basis", "requested_by", "ticket"}

// Parameters notes query parameters that are unknown, repeated or empty: a filter with a typing mistake, or from a
// variable that was not set, must not answer with everything. It also checks the cursor, so that the answer names all
// bad parameters.
func (c *Call) Parameters(known map[string]parameterForm) {
	if c.Request.URL.RawQuery == "" {
		return
	}
	given, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil { // a part that cannot be read counts as absent
		c.Found.Add("?", "the parameters cannot be read: escape what is special, such as ; as %%3B")
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		switch form, is := known[name]; {
		case !is:
			c.Found.Add(body.Shorten(name), "is not a parameter here")
		case len(given[name]) > 1 && !form.repeatable:
			c.Found.Add(name, "is given twice")
		case !form.required && slices.Contains(given[name], "") && !slices.Contains(mayBeEmpty, name):
			c.Found.Add(name, body.Empty)
		case name == "cursor" && !isCursor(given.Get(name)):
			c.Found.Add(name, notItsCursor)
		}
	}
}
