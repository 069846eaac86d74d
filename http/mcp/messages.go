package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/annals-kb/annals/http/client"
)

// messageOf decodes a message. It also returns its text, with ids that fit in no float64 as strings.
func messageOf(text []byte) (jsonrpc.Message, []byte, *jsonrpc.Error) {
	if !utf8.Valid(text) || !json.Valid(text) {
		return nil, nil, &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "this is not JSON in UTF-8"}
	}
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		return nil, nil, &jsonrpc.Error{
			Code: jsonrpc.CodeInvalidRequest, Message: "batches are not supported: send the messages one by one",
		}
	}
	text, whole := withExactIDs(text)
	message, err := jsonrpc.DecodeMessage(text)
	if err != nil || !whole {
		return nil, nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "this is not a JSON-RPC 2.0 message"}
	}
	return message, text, nil
}

// withExactIDs is a message whose ids the SDK answers as they are: a whole number that does not fit in a float64
// becomes a string. It also tells whether the ids are absent, strings or whole numbers, as the protocol requires.
func withExactIDs(text []byte) (exact []byte, whole bool) {
	var message, params map[string]json.RawMessage
	if json.Unmarshal(text, &message) != nil {
		return text, true
	}
	_ = json.Unmarshal(message["params"], &params) // or it is an array
	whole = true
	change := func(of map[string]json.RawMessage, name string) (changed bool) {
		digits := strings.TrimPrefix(string(of[name]), "-")
		if digits == "" || strings.Trim(digits[:1], "0123456789") != "" { // no number
			return false
		}
		const most = 1 << 53
		number, err := strconv.ParseInt(string(of[name]), 10, 64)
		if whole = whole && strings.Trim(digits, "0123456789") == ""; whole && (err != nil || max(number, -number) > most) {
			of[name], changed = json.RawMessage(strconv.Quote(string(of[name]))), true
		}
		return changed
	}
	changed := change(message, "id")
	if change(params, "requestId") {
		message["params"], _ = json.Marshal(params) // it was decoded
		changed = true
	}
	if changed {
		text, _ = json.Marshal(message)
	}
	return text, whole
}

// requestID is the id of a request that needs an answer; nil for other messages.
func requestID(message jsonrpc.Message) any {
	if request, is := message.(*jsonrpc.Request); is {
		return request.ID.Raw()
	}
	return nil
}

// refusal is an error as the answer to the message with an id; nil answers a malformed message.
func refusal(id any, wrong *jsonrpc.Error) []byte {
	text, err := json.Marshal(
		map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": wrong.Code, "message": wrong.Message}},
	)
	if err != nil {
		panic(err) // texts and numbers can always be encoded
	}
	return text
}

// parseMessages answers malformed messages, and passes all others on.
func parseMessages(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		status, wrong, message := http.StatusBadRequest, (*jsonrpc.Error)(nil), jsonrpc.Message(nil)
		body, err := io.ReadAll(r.Body)
		if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
			status, wrong = http.StatusRequestEntityTooLarge, &jsonrpc.Error{
				Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("a message has at most %d bytes", tooLong.Limit),
			}
		} else if err != nil {
			wrong = &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the message broke off"}
		} else {
			message, body, wrong = messageOf(body)
		}
		if wrong != nil {
			writeJSON(w, status, append(refusal(nil, wrong), '\n'))
			return
		}
		r = r.Clone(r.Context())
		if accept := strings.Join(r.Header.Values("Accept"), ","); accept == "" || strings.Contains(accept, "json") {
			r.Header.Set("Accept", "application/json, text/event-stream") // the SDK wants both, and answers with JSON
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		next.ServeHTTP(&jsonErrors{ResponseWriter: w, id: requestID(message)}, r)
	})
}

func writeJSON(w http.ResponseWriter, status int, text []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // an error is ignored: the host has left
}

// withCode gives a code of JSON-RPC to an error without one. The SDK would use 0, which is not a code.
func withCode(err error, code int64) error {
	if known, ok := errors.AsType[*jsonrpc.Error](err); err == nil || ok && known.Code != 0 {
		return err
	}
	return &jsonrpc.Error{Code: code, Message: err.Error()}
}

// withErrorCodes gives a code to the errors of methods. Errors of the SDK before that, such as a missing
// initialisation, get theirs from [stdioConnection].
func withErrorCodes(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, request sdk.Request) (sdk.Result, error) {
		result, err := next(ctx, method, request)
		if method == "initialize" {
			return result, withCode(err, jsonrpc.CodeInvalidRequest)
		}
		return result, withCode(err, jsonrpc.CodeInternalError)
	}
}

// jsonErrors converts refusals of the SDK in plain text, such as that of an unknown method, to JSON-RPC.
type jsonErrors struct {
	http.ResponseWriter
	id      any // of the message
	refused bool
}

func (p *jsonErrors) WriteHeader(status int) {
	header := p.Header()
	p.refused = status >= http.StatusBadRequest && strings.HasPrefix(header.Get("Content-Type"), "text/plain")
	if p.refused {
		header.Set("Content-Type", "application/json")
		header.Del("Content-Length")
	}
	p.ResponseWriter.WriteHeader(status)
}

func (p *jsonErrors) Write(text []byte) (int, error) {
	if !p.refused {
		return p.ResponseWriter.Write(text)
	}
	wrong := &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: strings.TrimSpace(string(text))}
	if strings.HasPrefix(wrong.Message, "JSON RPC not handled") { // the text of the SDK for older protocols
		wrong.Code = jsonrpc.CodeMethodNotFound
	}
	if _, err := p.ResponseWriter.Write(append(refusal(p.id, wrong), '\n')); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Unwrap is for [http.ResponseController].
func (p *jsonErrors) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// Refuse answers a host whose message was not read. Status and problem are those of the API.
//
// For a status of 500 and above, most hosts show nothing but the number. So an error that a host can only wait for is
// sent as the answer to its message. An error that the host must correct, such as an invalid key, keeps its status.
func Refuse(w http.ResponseWriter, r *http.Request, status int, problem json.RawMessage) {
	refused := &client.Error{}
	refused.Status = status
	if err := json.Unmarshal(problem, &refused.Problem); err != nil {
		panic(err) // problem comes from the API and is valid
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
	writeJSON(w, status, append(refusal(id, wrong), '\n'))
}

// maxProblemBody is how many bytes of a message are read for its id.
const maxProblemBody = 1 << 20

// requestIDOf is the id of the message in r; nil if it needs no answer.
func requestIDOf(r *http.Request) any {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxProblemBody))
	if err != nil || r.Method != http.MethodPost {
		return nil
	}
	message, _, wrong := messageOf(body)
	if wrong != nil {
		return nil
	}
	return requestID(message)
}
