package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/annals-kb/annals/client"
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
		message, err := jsonrpc.DecodeMessage(part)
		if err != nil || !hasWholeID(part) {
			return nil, batch, invalid()
		}
		all = append(all, message)
	}
	return all, batch, nil
}

// hasWholeID tells whether the id of a message, and of the request that it cancels, is absent, a string or a whole
// number, as the protocol requires. The SDK would answer any other number with a changed one.
func hasWholeID(message json.RawMessage) bool {
	var ids struct {
		ID     any `json:"id"`
		Params struct {
			RequestID any `json:"requestId"`
		} `json:"params"`
	}
	decoder := json.NewDecoder(bytes.NewReader(message))
	decoder.UseNumber()
	if decoder.Decode(&ids) != nil { // params may be an array
		return true
	}
	for _, id := range []any{ids.ID, ids.Params.RequestID} {
		if number, is := id.(json.Number); is {
			const exact = 1 << 53
			if whole, err := number.Int64(); err != nil || whole > exact || whole < -exact {
				return false
			}
		}
	}
	return true
}

// requestID is the id of a request that is answered; nil for every other message.
func requestID(message jsonrpc.Message) any {
	if request, is := message.(*jsonrpc.Request); is {
		return request.ID.Raw()
	}
	return nil
}

func invalid() *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "this is not a JSON-RPC 2.0 message"}
}

// refusal answers a message with an id, or with nil what is no message.
func refusal(id any, wrong *jsonrpc.Error) []byte {
	text, err := json.Marshal(
		map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": wrong.Code, "message": wrong.Message}},
	)
	if err != nil {
		panic(err) // texts and numbers always can be
	}
	return text
}

// parseMessages answers requests whose body is no message, or one with parameters that cannot be, and hands the
// others on.
func parseMessages(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		status, wrong := http.StatusBadRequest, (*jsonrpc.Error)(nil)
		body, err := io.ReadAll(r.Body)
		if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
			status, wrong = http.StatusRequestEntityTooLarge, &jsonrpc.Error{
				Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("a message has at most %d bytes", tooLong.Limit),
			}
		} else if err != nil {
			wrong = &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the message broke off"}
		} else {
			var all []jsonrpc.Message
			var batch bool
			all, batch, wrong = messagesOf(body)
			if wrong == nil && batch {
				wrong = checkBatch(r, all)
			}
			switch {
			case wrong != nil:
			case batch:
				serveBatch(next, w, r, all)
				return
			default:
				serveMessage(next, w, r, all[0])
				return
			}
		}
		writeJSON(w, status, append(refusal(nil, wrong), '\n'))
	})
}

// serveMessage answers a message.
func serveMessage(next http.Handler, w http.ResponseWriter, r *http.Request, message jsonrpc.Message) {
	id := requestID(message)
	if wrong := checkParams(message); wrong != nil && id != nil {
		writeJSON(w, http.StatusOK, append(refusal(id, wrong), '\n'))
		return
	}
	text, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		panic(err) // it was decoded
	}
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	next.ServeHTTP(&jsonErrors{ResponseWriter: w, id: id}, r)
}

func writeJSON(w http.ResponseWriter, status int, text []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // a host that left reads nothing
}

// checkParams says which parameters of a request are of another type than the protocol gives them; nil if none is. The
// SDK would say it of its own types, and repeat what was sent. What tools take is judged when they are called.
func checkParams(message jsonrpc.Message) *jsonrpc.Error {
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

// withoutBatches is the first version of the protocol that has no batches.
const withoutBatches = "2025-06-18"

// checkBatch is why a batch is refused as a whole, before any of its messages is carried out; nil if it is not.
func checkBatch(r *http.Request, all []jsonrpc.Message) *jsonrpc.Error {
	wrong := func(message string) *jsonrpc.Error {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: message}
	}
	if r.Header.Get("Mcp-Protocol-Version") >= withoutBatches {
		return wrong("this version of the protocol has no batches: send the messages one by one")
	}
	seen := map[any]bool{}
	for _, message := range all {
		if request, is := message.(*jsonrpc.Request); is && (request.Method == "initialize" ||
			request.Method == "subscriptions/listen") {
			return wrong(request.Method + " must not be part of a batch")
		}
		id := requestID(message)
		if id != nil && seen[id] {
			return wrong("two requests of a batch must not have the same id")
		}
		seen[id] = true
	}
	return nil
}

// serveBatch carries out every message of a batch, in order, and answers the requests among them.
func serveBatch(next http.Handler, w http.ResponseWriter, r *http.Request, all []jsonrpc.Message) {
	var answers [][]byte
	for _, message := range all {
		answer := &responseRecorder{header: http.Header{}, status: http.StatusOK}
		serveMessage(next, answer, r, message)
		if requestID(message) != nil {
			answers = append(answers, bytes.TrimSpace(answer.body.Bytes()))
		}
	}
	if len(answers) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	writeJSON(w, http.StatusOK, append(append([]byte("["), bytes.Join(answers, []byte(","))...), "]\n"...))
}

// withCode gives an error that has none a code of JSON-RPC: the SDK would answer with 0, which is none.
func withCode(err error, code int64) error {
	if known, ok := errors.AsType[*jsonrpc.Error](err); err == nil || ok && known.Code != 0 {
		return err
	}
	return &jsonrpc.Error{Code: code, Message: err.Error()}
}

// withErrorCodes gives a code to what goes wrong while a method is carried out. What it is refused for before, such
// as that the host has not introduced itself, [lineConnection] finds without one.
func withErrorCodes(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, request sdk.Request) (sdk.Result, error) {
		result, err := next(ctx, method, request)
		if method == "initialize" {
			return result, withCode(err, jsonrpc.CodeInvalidRequest)
		}
		return result, withCode(err, jsonrpc.CodeInternalError)
	}
}

// jsonErrors puts what the SDK refuses in plain text, such as a method that it does not know, into the form that
// hosts read.
type jsonErrors struct {
	http.ResponseWriter
	id      any // of the message
	refused bool
}

// WriteHeader implements [http.ResponseWriter].
func (p *jsonErrors) WriteHeader(status int) {
	header := p.Header()
	p.refused = status >= http.StatusBadRequest && strings.HasPrefix(header.Get("Content-Type"), "text/plain")
	if p.refused {
		header.Set("Content-Type", "application/json")
		header.Del("Content-Length")
	}
	p.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (p *jsonErrors) Write(text []byte) (int, error) {
	if !p.refused {
		return p.ResponseWriter.Write(text)
	}
	wrong := &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: strings.TrimSpace(string(text))}
	if strings.HasPrefix(wrong.Message, "JSON RPC not handled") { // how the SDK says it before its newest protocol
		wrong.Code = jsonrpc.CodeMethodNotFound
	}
	if _, err := p.ResponseWriter.Write(append(refusal(p.id, wrong), '\n')); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Unwrap is for [http.ResponseController].
func (p *jsonErrors) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// Refuse answers a host that was refused before its message was read. Status is what the API would answer with, problem
// what it would say.
//
// Of a status that tells of trouble here most hosts show the number and nothing else. So what a host can only wait
// for is the answer to its message; what it has to mend, such as its key, keeps the status by which hosts know what
// to do.
func Refuse(w http.ResponseWriter, r *http.Request, status int, problem json.RawMessage) {
	refused := &client.Error{}
	refused.Status = status
	if err := json.Unmarshal(problem, &refused.Problem); err != nil {
		panic(err) // the API wrote it
	}
	why := reasonOf(refused)
	wrong := &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: why.Code + ": " + why.Message}
	var id any
	if status >= http.StatusInternalServerError || status == http.StatusTooManyRequests {
		wrong.Code = jsonrpc.CodeInternalError
		if id = requestIDOf(r); id != nil {
			status = http.StatusOK
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(refusal(id, wrong), '\n')) // a host that left reads nothing
}

// maxProblemBody is how many bytes are read of a message for its id alone.
const maxProblemBody = 1 << 20

// requestIDOf is the id of the message, nil if it is none that is answered.
func requestIDOf(r *http.Request) any {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxProblemBody))
	if err != nil || r.Method != http.MethodPost {
		return nil
	}
	all, batch, wrong := messagesOf(bytes.TrimSpace(body))
	if wrong != nil || batch {
		return nil
	}
	return requestID(all[0])
}
