package scim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	filter "github.com/scim2/filter-parser/v2"
)

// filter is a test of resources; one that all pass without an expression.
func (k *kind) filter(expression string) (func(resource) bool, error) {
	if expression == "" {
		return func(resource) bool { return true }, nil
	}
	parsed, err := filter.ParseFilter([]byte(expression))
	if err != nil {
		return nil, word("invalidFilter").is(`the filter cannot be read: write one such as displayName eq "x"`)
	}
	return k.test(parsed)
}

func (k *kind) test(e filter.Expression) (func(resource) bool, error) {
	switch e := e.(type) {
	case *filter.LogicalExpression:
		left, err := k.test(e.Left)
		if err != nil {
			return nil, err
		}
		right, err := k.test(e.Right)
		return func(r resource) bool {
			if e.Operator == filter.OR {
				return left(r) || right(r)
			}
			return left(r) && right(r)
		}, err
	case *filter.NotExpression:
		inner, err := k.test(e.Expression)
		return func(r resource) bool { return !inner(r) }, err
	case *filter.ValuePath: // members[value eq "user:mia"]
		inner, err := part.test(e.ValueFilter)
		return func(r resource) bool { return slices.ContainsFunc(r.parts(e.AttributePath.AttributeName), inner) }, err
	case *filter.AttributeExpression:
		compare := operators[e.Operator]
		if !k.knows(e.AttributePath) {
			return nil, word("invalidFilter").is("a %s has no attribute %s", k.name, e.AttributePath)
		} else if compare == nil {
			return nil, word("invalidFilter").is("%s is not supported: use eq, ne, co, sw, ew or pr", e.Operator)
		}
		wanted := strings.ToLower(fmt.Sprint(e.CompareValue))
		return func(r resource) bool {
			found := slices.ContainsFunc(r.parts(e.AttributePath.AttributeName), func(p resource) bool {
				return compare(strings.ToLower(fmt.Sprint(p[cmp.Or(e.AttributePath.SubAttributeName(), "value")])), wanted)
			})
			return found != (e.Operator == filter.NE)
		}, nil
	}
	return nil, word("invalidFilter").is("the filter is not supported")
}

// part is what the values of a list have.
var part = &kind{name: "part", attributes: []string{"value", "display", "type", "primary", "$ref"}}

var operators = map[filter.CompareOperator]func(s, wanted string) bool{
	filter.PR: func(string, string) bool { return true },
	filter.EQ: func(s, wanted string) bool { return s == wanted },
	filter.NE: func(s, wanted string) bool { return s == wanted },
	filter.CO: strings.Contains, filter.SW: strings.HasPrefix, filter.EW: strings.HasSuffix,
}

// parts are the values of an attribute; a single value is one part.
func (r resource) parts(attribute string) []resource {
	for name, value := range r {
		if !strings.EqualFold(name, attribute) {
			continue
		}
		switch v := value.(type) {
		case []resource:
			return v
		case resource:
			return []resource{v}
		}
		return []resource{{"value": value}}
	}
	return nil
}
