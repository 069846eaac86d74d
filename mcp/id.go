package mcp

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// kept begins the text that stands for an id that is a number which the SDK would change, such as 1.5 or 1e3.
const kept = "\x00number "

func isKept(id any) bool {
	text, is := id.(string)
	return is && strings.HasPrefix(text, kept)
}

// requestID is the id of a request that is answered; nil for every other message.
func requestID(message jsonrpc.Message) any {
	if request, is := message.(*jsonrpc.Request); is {
		return request.ID.Raw()
	}
	return nil
}

// keepingIDs puts a text in the place of ids that the SDK would change: that of a message, and that of the request which
// it cancels.
func keepingIDs(message json.RawMessage) json.RawMessage {
	return keeping(message, "id", func(fields map[string]json.RawMessage) {
		if string(fields["method"]) == `"notifications/cancelled"` {
			fields["params"] = keeping(fields["params"], "requestId", func(map[string]json.RawMessage) {})
		}
	})
}

func keeping(object json.RawMessage, name string, also func(map[string]json.RawMessage)) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(object, &fields) != nil || fields == nil {
		return object
	}
	if id := string(fields[name]); id != "" && strings.ContainsAny(id[:1], "-0123456789") {
		if whole, err := strconv.ParseInt(id, 10, 64); err != nil || strconv.FormatInt(whole, 10) != id || whole > 1<<53 || whole < -1<<53 {
			fields[name] = encoded(kept + id)
		}
	}
	also(fields)
	return encoded(fields)
}

func encoded(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // it is made of texts and of what was JSON
	}
	return text
}

// restoringID gives an answer the id that its request came with.
func restoringID(answer []byte) []byte {
	var fields map[string]json.RawMessage
	var id string
	if !bytes.Contains(answer, encoded(kept)[:len(encoded(kept))-1]) || json.Unmarshal(answer, &fields) != nil ||
		json.Unmarshal(fields["id"], &id) != nil || !isKept(id) {
		return answer
	}
	fields["id"] = json.RawMessage(strings.TrimPrefix(id, kept))
	return encoded(fields)
}
