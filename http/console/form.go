package console

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// isRefused tells whether the API refused what a form asked. Then the form is shown again.
func isRefused(err error) bool {
	refusal, is := errors.AsType[*client.Error](err)
	return is && refusal.Status == http.StatusRequestEntityTooLarge ||
		errors.Is(err, client.ErrInvalid) || errors.Is(err, client.ErrConflict) || errors.Is(err, client.ErrForbidden)
}

// form is a form that writes: its fields, what was typed into them, and why the API refused it.
type form struct {
	Fields  []field
	Values  map[string]string   // by the name of the field
	Wrong   map[string][]string // what is wrong with a field
	Refused *problem

	page    *page
	names   map[string]string   // of fields by what the API calls them, where that differs
	unknown map[string][]string // what was typed into fields of entities and is none
	members []api.Member        // that such fields offer
}

// newForm is a form with what was sent, if anything was.
func newForm(p *page, fields []field) *form {
	f := &form{
		Fields: fields, Values: map[string]string{}, Wrong: map[string][]string{}, page: p, unknown: map[string][]string{},
	}
	for _, field := range fields {
		f.Values[field.Name] = unixLines(p.r.PostFormValue(field.Name))
		if field.Kinds != nil {
			f.pick(field, p.r.PostForm[field.Name])
		}
	}
	return f
}

func (f *form) text(name string) string { return strings.TrimSpace(f.Values[name]) }

// put puts what was typed into fields into a request, as a text or as lines. Empty fields are left out.
func (f *form) put(request map[string]any, asLines bool, names ...string) {
	for _, name := range names {
		if lines := linesOf(f.Values[name]); asLines && lines != nil {
			request[name] = lines
		} else if value := f.text(name); !asLines && value != "" {
			request[name] = value
		}
	}
}

// failed answers with the form of data again, if the API refused it, after the rest of the page was read. It returns
// nil if err is nil.
func (f *form) failed(p *page, err error, view string, data any, rest ...func(*page) error) error {
	if !f.refuse(err) {
		return err
	}
	for _, read := range rest {
		if err := read(p); err != nil {
			return err
		}
	}
	return answer(p, view, data, f.Refused.Status)
}

// refuse keeps why the API refused the form, and tells whether it did. What is wrong with a field stands next to it.
func (f *form) refuse(err error) bool {
	if !isRefused(err) {
		return false
	}
	f.Refused = problemOf(err)
	all := f.Refused.Fields
	f.Refused.Fields = nil
	for _, bad := range all {
		name, index, listed := strings.Cut(bad.Field, "[")
		name = cmp.Or(f.names[name], name)
		if !slices.ContainsFunc(f.Fields, func(field field) bool { return field.Name == name }) {
			f.Refused.Fields = append(f.Refused.Fields, bad)
			continue
		}
		message, i := bad.Message, 0
		if lines := linesOf(f.Values[name]); listed {
			if _, err := fmt.Sscanf(index, "%d]", &i); err == nil && i < len(lines) {
				message = lines[i] + " " + message
			}
		}
		f.Wrong[name] = append(f.Wrong[name], message)
	}
	maps.Copy(f.Wrong, f.unknown)
	return true
}
