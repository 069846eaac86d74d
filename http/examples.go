package http

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
)

// examplesJSON has one request of each operation, and what a server answered.
//
//go:embed examples.json
var examplesJSON []byte

type example struct {
	Name    string          // the operation's id
	Request string          // method and path
	Type    string          // of the body; empty for JSON
	Body    json.RawMessage // a string, if it is not JSON
	Status  int
	Answers string // the media type of the answer
	Answer  json.RawMessage
}

// exemplify adds the examples to the operations that they are about.
func exemplify(api *huma.OpenAPI) error {
	var all []example
	if err := json.Unmarshal(examplesJSON, &all); err != nil {
		return fmt.Errorf("read examples.json: %w", err)
	}
	byName := map[string]example{}
	for _, e := range all {
		byName[e.Name] = e
	}
	for _, item := range api.Paths {
		for _, op := range operationsOf(item) {
			e, is := byName[op.OperationID]
			if !is {
				continue
			}
			if op.Extensions == nil {
				op.Extensions = map[string]any{}
			}
			op.Extensions["x-example-request"] = e.Request
			if op.RequestBody != nil && len(e.Body) > 0 {
				if content := op.RequestBody.Content[cmp.Or(e.Type, jsonType)]; content != nil {
					content.Example = decoded(e.Body)
				}
			}
			status := strconv.Itoa(e.Status)
			response := op.Responses[status]
			if response != nil && response.Ref != "" { // a problem: many operations share its description
				shared := api.Components.Responses[responseName(e.Status)]
				response = &huma.Response{
					Description: shared.Description, Headers: shared.Headers,
					Content: map[string]*huma.MediaType{problemType: {Schema: shared.Content[problemType].Schema}},
				}
				op.Responses[status] = response
			}
			if response != nil && response.Content[e.Answers] != nil {
				response.Content[e.Answers].Example = decoded(e.Answer)
			}
		}
	}
	return nil
}

func decoded(raw json.RawMessage) (value any) {
	_ = json.Unmarshal(raw, &value) // examples.json was read before
	return value
}
