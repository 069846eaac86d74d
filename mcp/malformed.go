package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// messagesOf reads a message, or a batch of them.
func messagesOf(text []byte) ([]jsonrpc.Message, *jsonrpc.Error) {
	if !json.Valid(text) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "this is not JSON"}
	}
	parts := []json.RawMessage{text}
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		if err := json.Unmarshal(text, &parts); err != nil || len(parts) == 0 {
			return nil, invalid()
		}
	}
	var all []jsonrpc.Message
	for _, part := range parts {
		message, err := jsonrpc.DecodeMessage(part)
		if err != nil {
			return nil, invalid()
		}
		all = append(all, message)
	}
	return all, nil
}

func invalid() *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "this is not a JSON-RPC 2.0 message"}
}

// refusal answers a message with an id, or with nil what is no message.
func refusal(id any, wrong *jsonrpc.Error) []byte {
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": wrong.Code, "message": wrong.Message}})
	if err != nil {
		panic(err) // texts and numbers always can be
	}
	return text
}

// readable answers requests whose body is no message, or one with parameters that cannot be, and hands the others on.
func readable(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		status, id, wrong := http.StatusBadRequest, any(nil), (*jsonrpc.Error)(nil)
		body, err := io.ReadAll(r.Body)
		if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
			status, wrong = http.StatusRequestEntityTooLarge, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("a message has at most %d bytes", tooLong.Limit)}
		} else if err != nil {
			wrong = &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the message broke off"}
		} else {
			var all []jsonrpc.Message
			all, wrong = messagesOf(body)
			if id = idOfOnly(all); id != nil {
				status, wrong = http.StatusOK, mistyped(all[0])
			}
			if wrong == nil {
				r.Body = io.NopCloser(bytes.NewReader(body))
				next.ServeHTTP(&plain{ResponseWriter: w, id: id}, r)
				return
			}
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write(append(refusal(id, wrong), '\n')) // a host that left reads nothing
	})
}
