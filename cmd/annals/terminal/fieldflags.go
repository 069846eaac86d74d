package terminal

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
)

// NameFlags adds to the fields that a server refused their flags or arguments.
func NameFlags(node *kong.Node, err error) error {
	if err == nil || node == nil {
		return err
	}
	refused := AsFailure(err)
	if refused.Status != 0 && refused.Fix != "" {
		f := *refused
		f.Fix = headersAsFlags(node, f.Fix)
		refused, err = &f, &f
	}
	if len(refused.Fields) == 0 {
		return err
	}
	f := *AsFailure(err)
	f.Fields = slices.Clone(f.Fields)
	unknown := false
	for i := range f.Fields {
		f.Fields[i].Flag = flagFor(node, f.Fields[i].Field)
		unknown = unknown || f.Fields[i].Flag == ""
	}
	if !unknown && f.Status == http.StatusUnprocessableEntity && f.Code == ExitUsage {
		f.Detail = "Some values are not right"
	}
	return &f
}

// flagFor is the flag or argument of a field: its tag or its name is that of the field. Empty if there is none.
func flagFor(node *kong.Node, field string) string {
	name, index, _ := strings.Cut(field, "[")
	index = strings.TrimSuffix(index, "]")
	whole, _, _ := strings.Cut(name, ".")
	for _, value := range valuesOf(node) {
		fields := fieldsOf(value)
		if slices.Contains(fields, name) || slices.Contains(fields, whole) {
			return nth(value, index)
		}
	}
	return ""
}

// valuesOf are the arguments and flags of a command.
func valuesOf(node *kong.Node) []*kong.Value {
	values := slices.Clone(node.Positional)
	for _, flags := range node.AllFlags(true) {
		for _, flag := range flags {
			values = append(values, flag.Value)
		}
	}
	return values
}

// fieldsOf are the fields that a flag may set; a repeatable flag sets a list.
func fieldsOf(value *kong.Value) []string {
	if fields := value.Tag.Get("field"); fields != "" {
		return strings.Split(fields, ",")
	}
	name := strings.ReplaceAll(value.Name, "-", "_")
	return []string{name, name + "s"}
}

// nth names a flag, and which of several if it was repeated.
func nth(value *kong.Value, index string) string {
	name := value.ShortSummary()
	if value.Flag == nil {
		name = "<" + value.Name + ">"
	}
	n, err := strconv.Atoi(index)
	if err != nil || value.Target.Kind() != reflect.Slice || value.Target.Len() < 2 {
		return name
	}
	return fmt.Sprintf("%s number %d", name, n+1)
}

// ownWords is the part of a fix that is meant for this program, if there is one.
func ownWords(fix string) string {
	if _, own, is := strings.Cut(fix, "; the annals command "); is {
		return "annals " + own
	}
	return fix
}

// headersAsFlags replaces the headers in a fix by their flags and variables.
func headersAsFlags(node *kong.Node, fix string) string {
	var pairs []string
	values := valuesOf(node)
	slices.SortStableFunc(values, func(a, b *kong.Value) int { return len(b.Tag.Get("field")) - len(a.Tag.Get("field")) })
	for _, value := range values {
		header := value.Tag.Get("field")
		if value.Flag == nil || header == "" || header == strings.ToLower(header) {
			continue
		}
		flag := "--" + value.Name
		if len(value.Flag.Envs) > 0 {
			flag += " (" + value.Flag.Envs[0] + ")"
		}
		pairs = append(pairs, header, flag)
	}
	return strings.NewReplacer(pairs...).Replace(fix)
}
