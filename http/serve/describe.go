package serve

import (
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/body"
)

func Parameter(name string) *huma.Param { return &huma.Param{Ref: "#/components/parameters/" + name} }

// The statuses that some operations add to the common ones.
var (
	ReadErrors = []int{http.StatusBadRequest, http.StatusNotFound, http.StatusGone}
	BodyErrors = []int{
		http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType,
	}
	NamedErrors  = append([]int{http.StatusNotFound}, BodyErrors...)
	WriteErrors  = append([]int{http.StatusGone}, BodyErrors...)
	ChangeErrors = append([]int{http.StatusNotFound, http.StatusPreconditionFailed}, WriteErrors...)
)

// document adds what operations have in common: headers and problems.
func document(op *huma.Operation) {
	op.SkipValidateParams = true // parameters are read together with the body
	shared := []string{"Annals-Actor", "Annals-On-Behalf-Of", "Annals-Tenant", "X-Request-Id"}
	common := []int{
		http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusUnprocessableEntity,
		http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable,
	}
	if op.Method != http.MethodGet && op.OperationID != "search" && !strings.HasPrefix(op.Path, ProjectionPath) {
		common = append(common, http.StatusInsufficientStorage)
		shared = append(shared, "Idempotency-Key", redaction, "Annals-Correlation-Id", "Annals-Causation-Id", "traceparent")
	}
	if op.Method == http.MethodGet || op.OperationID == "search" || op.OperationID == "context" {
		shared = append(shared, "Annals-Host", "Annals-Session")
	}
	if slices.Contains(op.Errors, http.StatusPreconditionFailed) {
		shared = append(shared, "If-Match")
	}
	for _, name := range shared {
		op.Parameters = append(op.Parameters, Parameter(name))
	}
	if op.Responses == nil {
		op.Responses = map[string]*huma.Response{}
	}
	for _, status := range append(common, op.Errors...) {
		op.Responses[strconv.Itoa(status)] = &huma.Response{Ref: "#/components/responses/" + ResponseName(status)}
	}
	if op.RequestBody != nil {
		op.Responses[strconv.Itoa(http.StatusRequestTimeout)] = &huma.Response{
			Ref: "#/components/responses/" + ResponseName(http.StatusRequestTimeout),
		}
	}
	op.Errors = nil
}

func ResponseName(status int) string {
	return strings.ReplaceAll(strings.ReplaceAll(http.StatusText(status), " ", ""), "-", "")
}

// Tags are those of operations with one tag. It is declared with what the operations are about.
func (a *API) Tags(name, about string) []string {
	all := a.Huma.OpenAPI()
	if !slices.ContainsFunc(all.Tags, func(t *huma.Tag) bool { return t.Name == name }) {
		all.Tags = append(all.Tags, &huma.Tag{Name: name, Description: about})
	}
	return []string{name}
}

// Bodies documents a request body by an example of its type in each format.
func Bodies(a *API, required bool, formats map[string]any) *huma.RequestBody {
	documented := &huma.RequestBody{Required: required, Content: map[string]*huma.MediaType{}}
	for format, example := range formats {
		body.Prepare(reflect.TypeOf(example))
		schema := a.Huma.OpenAPI().Components.Schemas.Schema(reflect.TypeOf(example), true, "")
		documented.Content[format] = &huma.MediaType{Schema: schema}
	}
	return documented
}

// OrMany documents that a JSON body may also be an array of that type.
func OrMany(documented *huma.RequestBody) *huma.RequestBody {
	one := documented.Content[JSONType].Schema
	documented.Content[JSONType].Schema = &huma.Schema{
		OneOf: []*huma.Schema{one, {Type: huma.TypeArray, Items: one}},
	}
	return documented
}

// ResponseHeaders documents the headers of an answer that huma does not write, in the same form.
func ResponseHeaders(t reflect.Type, more ...string) map[string]*huma.Param {
	all := map[string]*huma.Param{}
	for field := range t.Fields() {
		if name := field.Tag.Get("header"); name != "" {
			all[name] = &huma.Param{Schema: &huma.Schema{Type: huma.TypeString, Description: field.Tag.Get("doc")}}
		}
	}
	for _, name := range more {
		all[name] = &huma.Param{Schema: &huma.Schema{Type: huma.TypeString}}
	}
	return all
}

// documented is an operation of the description.
func (a *API) documented(op huma.Operation) *huma.Operation {
	all := OperationsOf(a.Huma.OpenAPI().Paths[op.Path])
	return all[slices.IndexFunc(all, func(o *huma.Operation) bool { return o.Method == op.Method })]
}

// OperationsOf lists the operations of a path in reading order.
func OperationsOf(item *huma.PathItem) []*huma.Operation {
	var all []*huma.Operation
	for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
		if op != nil {
			all = append(all, op)
		}
	}
	return all
}

// AnsweredByLines documents the answers to many records.
func AnsweredByLines(a *API) map[string]*huma.Response {
	line := a.Huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[api.BulkAnswer](), true, "")
	return map[string]*huma.Response{"200": {
		Description: "One line each, in order", Content: map[string]*huma.MediaType{LinesType: {Schema: line}},
	}}
}

// Paths of several rooms. Operations on projections record nothing under a key of the caller.
const (
	ItemPath       = "/v1/knowledge/{id}"
	ProjectionPath = "/v1/projections/{name}"
)

// JSONBody documents a JSON body of a type.
func JSONBody[T any](a *API, required bool) *huma.RequestBody {
	return Bodies(a, required, map[string]any{JSONType: *new(T)})
}
