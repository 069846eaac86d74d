package serve

import (
	"errors"
	"maps"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/body"
)

// The parameters of a query stay strings at first. Operations parse them together with the body, so that one answer
// names all bad values. Their types document them.
type (
	Integer string
	Number  string
	Boolean string
	Moment  string
)

// Schema documents a whole number.
func (Integer) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: huma.TypeInteger} }

// Schema documents a number.
func (Number) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: huma.TypeNumber} }

// Schema documents a yes or no.
func (Boolean) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: huma.TypeBoolean} }

// Schema documents a time.
func (Moment) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: huma.TypeString} }

// NoLimit is the maximum of a number without one: no position of a log reaches it.
const NoLimit = 1 << 62

// Read gives a number from least to most, or 0 if there is none.
func (v Integer) Read(p *domain.Problems, field string, least, most int64) int64 {
	if v == "" {
		return 0
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil || n < least || n > most {
		if most == NoLimit {
			p.Add(field, "must be a whole number of %d or more", least)
		} else {
			p.Add(field, "must be a whole number from %d to %d", least, most)
		}
		return 0
	}
	return n
}

// Read gives nil for an absent parameter.
func (v Number) Read(p *domain.Problems, field string) *float64 {
	if v == "" {
		return nil
	}
	x, err := strconv.ParseFloat(string(v), 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		p.Add(field, "must be a number")
		return nil
	}
	return &x
}

// Read gives nil for an absent parameter.
func (v Boolean) Read(p *domain.Problems, field string) *bool {
	yes := v == "true"
	switch v {
	case "":
		return nil
	case "true", "false":
	default:
		p.Add(field, "must be true or false")
	}
	return &yes
}

// Read takes what [domain.ParseTime] reads; without a zone, in UTC.
func (v Moment) Read(p *domain.Problems, field string) time.Time {
	if v == "" {
		return time.Time{}
	}
	at, _, err := domain.ParseTime(body.Unspaced(string(v)), time.Now().UTC())
	if err != nil {
		p.Add(field, "must be a time such as 2026-03-01T12:00:00Z, or a date")
		return at
	}
	return at.UTC()
}

// CheckText notes a value that no stored text can have.
func CheckText(p *domain.Problems, field, value string) {
	const most = 256
	if !utf8.ValidString(value) || strings.ContainsRune(value, 0) || utf8.RuneCountInString(value) > most {
		p.Add(field, "must be at most %d characters of UTF-8, without NUL", most)
	}
}

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
	values, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil { // a part that cannot be read counts as absent
		c.Found.Add("?", "the parameters cannot be read: escape what is special, such as ; as %%3B")
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch form, is := known[name]; {
		case !is:
			c.Found.Add(body.Shorten(name), "is not a parameter here")
		case len(values[name]) > 1 && !form.repeatable:
			c.Found.Add(name, "is given twice")
		case !form.required && slices.Contains(values[name], "") && !slices.Contains(mayBeEmpty, name):
			c.Found.Add(name, body.Empty)
		case name == "cursor" && !isCursor(values.Get(name)):
			c.Found.Add(name, notItsCursor)
		}
	}
}

// Entity parses an entity, and notes one that is none. An empty text is the empty entity.
func Entity(found *domain.Problems, field, value string) domain.Entity {
	if value == "" {
		return ""
	}
	parsed, err := domain.ParseEntity(value)
	if err != nil {
		found.Add(field, "%s", err)
	}
	return parsed
}

// Between reads two times, the earlier first.
func Between(found *domain.Problems, first string, from Moment, last string, to Moment) (time.Time, time.Time) {
	begin, end := from.Read(found, first), to.Read(found, last)
	if !begin.IsZero() && !end.IsZero() && !begin.Before(end) {
		found.Add(last, "must be after %s", first)
	}
	return begin, end
}

// SplitCommas splits values at commas: type=tool,plan is type=tool&type=plan.
func SplitCommas(values []string) []string {
	var all []string
	for _, words := range values {
		all = append(all, strings.Split(words, ",")...)
	}
	return all
}

// Renamed replaces the names of bad fields by those that the caller used.
func Renamed(err error, names map[string]string) error {
	if invalid, ok := errors.AsType[*domain.Invalid](err); ok {
		for i, bad := range invalid.Problems {
			if name, other := names[bad.Field]; other {
				invalid.Problems[i].Field = name
			}
		}
	}
	return err
}
