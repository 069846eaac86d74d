package mcp

import (
	"bytes"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// withoutBatches is the first version of the protocol that has no batches.
const withoutBatches = "2025-06-18"

// badBatch is why a batch is refused as a whole, before any of its messages is carried out; nil if it is not.
func badBatch(r *http.Request, all []jsonrpc.Message) *jsonrpc.Error {
	wrong := func(message string) *jsonrpc.Error {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: message}
	}
	if r.Header.Get("Mcp-Protocol-Version") >= withoutBatches {
		return wrong("this version of the protocol has no batches: send the messages one by one")
	}
	seen := map[any]bool{}
	for _, message := range all {
		if request, is := message.(*jsonrpc.Request); is && (request.Method == "initialize" || request.Method == "subscriptions/listen") {
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

// answerBatch carries out every message of a batch, in order, and answers the requests among them.
func answerBatch(next http.Handler, w http.ResponseWriter, r *http.Request, all []jsonrpc.Message) {
	var answers [][]byte
	for _, message := range all {
		answer := &recording{header: http.Header{}, status: http.StatusOK}
		answerOne(next, answer, r, message)
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
