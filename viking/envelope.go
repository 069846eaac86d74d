package viking

import (
	"encoding/json"
	"maps"
	"net/http"
)

// envelope is around every answer but the bare ones. Time is what old clients want to see; it says nothing.
type envelope struct {
	Status string   `json:"status"` // ok, error
	Result any      `json:"result"`
	Error  *failure `json:"error"`
	Time   float64  `json:"time"`
}

// failure says what went wrong, never what people wrote.
type failure struct {
	Code    string         `json:"code"`
	Message string         `json:"message"`
	Details map[string]any `json:"details,omitempty"`
}

// bare is an answer without an envelope.
type bare struct {
	status int
	header http.Header // added to the answer's
	body   any         // []byte as it is, everything else as JSON
}

// answer writes a result.
func answer(w http.ResponseWriter, result any) {
	if b, is := result.(bare); is {
		maps.Copy(w.Header(), b.header)
		if raw, is := b.body.([]byte); is {
			w.WriteHeader(b.status)
			_, _ = w.Write(raw) // a caller who left in the middle is no concern of ours
			return
		}
		write(w, b.status, b.body)
		return
	}
	write(w, http.StatusOK, envelope{Status: "ok", Result: result})
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(body) // likewise
}
