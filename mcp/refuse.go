package mcp

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/annals-kb/annals/client"
)

// Refuse answers a host that was refused before its message was read. Status is what the API would answer with, problem
// what it would say.
//
// Of a status that tells of trouble here most hosts show the number and nothing else. So what a host can only wait for is
// the answer to its message; what it has to mend, such as its key, keeps the status by which hosts know what to do.
func Refuse(w http.ResponseWriter, r *http.Request, status int, problem json.RawMessage) {
	refused := &client.Error{Status: status}
	if err := json.Unmarshal(problem, refused); err != nil {
		panic(err) // the API wrote it
	}
	why := reasonOf(refused)
	wrong := &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: why.Code + ": " + why.Message}
	var id any
	if status >= http.StatusInternalServerError || status == http.StatusTooManyRequests {
		wrong.Code = jsonrpc.CodeInternalError
		if id = asked(r); id != nil {
			status = http.StatusOK
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(refusal(id, wrong), '\n')) // a host that left reads nothing
}

// longest is how many bytes are read of a message for its id alone.
const longest = 1 << 20

// asked is the id of the message, nil if it is none that is answered.
func asked(r *http.Request) any {
	body, err := io.ReadAll(io.LimitReader(r.Body, longest))
	if err != nil || r.Method != http.MethodPost {
		return nil
	}
	all, batch, wrong := messagesOf(bytes.TrimSpace(body))
	if wrong != nil || batch {
		return nil
	}
	return requestID(all[0])
}
