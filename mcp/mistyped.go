package mcp

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// mistyped says which parameters of a request are of another type than the protocol gives them; nil if none is. The
// SDK would say it of its own types, and repeat what was sent. What tools take is judged when they are called.
func mistyped(message jsonrpc.Message) *jsonrpc.Error {
	request, is := message.(*jsonrpc.Request)
	if !is {
		return nil
	}
	var params map[string]json.RawMessage
	if json.Unmarshal(request.Params, &params) != nil { // none, or no object, which is refused as that
		return nil
	}
	var bad []string
	texts := func(given map[string]json.RawMessage, names ...string) {
		for _, name := range names {
			if value, said := given[name]; said && json.Unmarshal(value, new(string)) != nil {
				bad = append(bad, name+" must be a string")
			}
		}
	}
	switch request.Method {
	case "tools/call":
		texts(params, "name")
	case "resources/read":
		texts(params, "uri")
	case "prompts/get":
		texts(params, "name")
		var arguments map[string]json.RawMessage
		if given, said := params["arguments"]; said && json.Unmarshal(given, &arguments) != nil {
			bad = append(bad, "arguments must be an object of strings")
		}
		texts(arguments, slices.Sorted(maps.Keys(arguments))...)
	}
	if len(bad) == 0 {
		return nil
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: invalidArgument + ": " + strings.Join(bad, "; ")}
}
