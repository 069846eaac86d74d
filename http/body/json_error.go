package body

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
)

// JSONError tells where JSON is malformed. It never holds the text there.
type JSONError struct {
	Line, Column int    // in characters; the first is 1
	Why          string // a sentence that tells more than the position does; often empty
}

// FindJSONError tells where data is malformed; false if it is not.
func FindJSONError(data []byte) (JSONError, bool) {
	var broken *json.SyntaxError
	if !errors.As(json.Unmarshal(data, new(json.RawMessage)), &broken) {
		return JSONError{}, false
	}
	before := data[:max(broken.Offset-1, 0)]
	at := JSONError{
		Line:   bytes.Count(before, []byte{'\n'}) + 1,
		Column: utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1,
	}
	switch what := broken.Error(); {
	case what == "unexpected end of JSON input": // an error at the last byte has the same offset
		at.Why = "the JSON ends too early: something is still open"
	case strings.HasSuffix(what, "exceeded max depth"):
		at.Why = "the JSON is nested too deep: more than 10000 levels"
	}
	return at, true
}
