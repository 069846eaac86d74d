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
func messagesOf(text []byte) (all []jsonrpc.Message, batch bool, wrong *jsonrpc.Error) {
	if !json.Valid(text) {
		return nil, false, &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "this is not JSON"}
	}
	parts := []json.RawMessage{text}
	if batch = bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")); batch {
		if err := json.Unmarshal(text, &parts); err != nil || len(parts) == 0 {
			return nil, batch, invalid()
		}
	}
	for _, part := range parts {
		message, err := jsonrpc.DecodeMessage(keepingIDs(part))
		if err != nil {
			return nil, batch, invalid()
		}
		all = append(all, message)
	}
	return all, batch, nil
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
	return restoringID(text)
}

// readable answers requests whose body is no message, or one with parameters that cannot be, and hands the others on.
func readable(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		status, wrong := http.StatusBadRequest, (*jsonrpc.Error)(nil)
		body, err := io.ReadAll(r.Body)
		if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
			status, wrong = http.StatusRequestEntityTooLarge, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("a message has at most %d bytes", tooLong.Limit)}
		} else if err != nil {
			wrong = &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the message broke off"}
		} else {
			var all []jsonrpc.Message
			var batch bool
			all, batch, wrong = messagesOf(body)
			if wrong == nil && batch {
				wrong = badBatch(r, all)
			}
			switch {
			case wrong != nil:
			case batch:
				answerBatch(next, w, r, all)
				return
			default:
				answerOne(next, w, r, all[0])
				return
			}
		}
		writeJSON(w, status, append(refusal(nil, wrong), '\n'))
	})
}

// answerOne answers a message.
func answerOne(next http.Handler, w http.ResponseWriter, r *http.Request, message jsonrpc.Message) {
	id := requestID(message)
	if wrong := mistyped(message); wrong != nil && id != nil {
		writeJSON(w, http.StatusOK, append(refusal(id, wrong), '\n'))
		return
	}
	text, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		panic(err) // it was decoded
	}
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	if !isKept(id) {
		next.ServeHTTP(&plain{ResponseWriter: w, id: id}, r)
		return
	}
	answer := &recording{header: w.Header(), status: http.StatusOK}
	next.ServeHTTP(&plain{ResponseWriter: answer, id: id}, r)
	answer.header.Del("Content-Length")
	w.WriteHeader(answer.status)
	_, _ = w.Write(restoringID(answer.body.Bytes())) // a host that left reads nothing
}

func writeJSON(w http.ResponseWriter, status int, text []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // a host that left reads nothing
}
