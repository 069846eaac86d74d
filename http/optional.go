package http

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// optional is a field of a merge patch: left out, null, or given.
type optional[T any] struct {
	Given bool // null too
	Null  bool
	Value T
}

// nullable types tell null from left out.
type nullable interface {
	// present notes that there is a value and gives the place for it; null leaves it empty.
	present(null bool) reflect.Value
	inner() reflect.Type
}

func (o *optional[T]) present(null bool) reflect.Value {
	o.Given, o.Null = true, null
	return reflect.ValueOf(&o.Value).Elem()
}

func (o *optional[T]) inner() reflect.Type { return reflect.TypeFor[T]() }

// Schema documents the value; that null clears it is said once, by the operation.
func (o *optional[T]) Schema(r huma.Registry) *huma.Schema {
	s := *r.Schema(reflect.TypeFor[T](), true, "")
	switch {
	case s.Type != "":
		s.Nullable = true
	case len(s.OneOf) > 0:
		s.OneOf = append(s.OneOf, &huma.Schema{Type: "null"})
	}
	return &s
}

func decodeNullable(t reflect.Type) decoder {
	inner := decoderOf(reflect.New(t).Interface().(nullable).inner())
	return func(r *reader, v reflect.Value) {
		null := r.null()
		place := v.Addr().Interface().(nullable).present(null)
		if !null {
			inner(r, place)
		}
	}
}
