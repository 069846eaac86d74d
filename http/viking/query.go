package viking

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/body"
)

// query is one request of a route.
type query struct {
	request *http.Request
	caller  caller
	found   domain.Problems // bad parameters, to be named together
	sent    []byte          // the body, after it was read
	fields  map[string]any  // those of the body
	reason  string          // why the caller makes the change
	receipt string          // of the answer; empty if none is kept
}

// bind decodes the body's JSON object into a struct. An empty body is an empty object, unknown fields are ignored,
// and null counts as absent. The error names every bad field.
func (q *query) bind(into any) error {
	const most = 8 << 20
	var err error
	q.sent, err = io.ReadAll(http.MaxBytesReader(nil, q.request.Body, most))
	if tooLarge, is := errors.AsType[*http.MaxBytesError](err); is {
		return domain.Refuse(errBody, "a body may have at most %d bytes here", tooLarge.Limit)
	}
	if err != nil {
		return domain.Refuse(domain.ErrMalformed, "the body ended too early")
	}
	if len(bytes.TrimSpace(q.sent)) == 0 {
		return nil
	}
	if err := body.Fill(q.sent, into, &q.found); err != nil {
		return err
	}
	_ = json.Unmarshal(q.sent, &q.fields) // it is an object
	if why, _ := q.fields["reason"].(string); why != "" {
		q.setReason(why)
	}
	return q.found.Err()
}

// audienceFields are fields by which requests name a target or an audience.
var audienceFields = []string{"to", "parent", "target", "target_uri", "root_uri", "scope", "scopes", "visibility"}

// bindWrite is bind for writes. It refuses unknown fields of audienceFields: ignoring them would write for another
// audience than the caller meant.
func (q *query) bindWrite(into any) error {
	if err := q.bind(into); err != nil {
		return err
	}
	known := map[string]bool{}
	for _, field := range reflect.VisibleFields(reflect.TypeOf(into).Elem()) {
		known[field.Tag.Get("json")] = true
	}
	for _, name := range audienceFields {
		if value := q.fields[name]; !known[name] && value != nil && value != "" {
			q.found.Add(name, "is not a field of this request")
		}
	}
	return q.found.Err()
}

// at is the address in the body's field uri, unless refused is set.
func (q *query) at(refused error) (address, error) {
	if refused != nil {
		return address{}, refused
	}
	uri, _ := q.fields["uri"].(string)
	return q.caller.address("uri", uri)
}

// setReason sets the reason, which the history shows for every change of the request.
func (q *query) setReason(reason string) {
	const most = 2000
	if q.reason = reason; utf8.RuneCountInString(reason) > most {
		q.found.Add("reason", "must be at most %d characters", most)
	}
}

// param is a parameter; empty if it is absent.
func (q *query) param(name string) string { return q.request.URL.Query().Get(name) }

// intParam is a parameter that is a whole number.
func (q *query) intParam(name string, otherwise int) int {
	value := q.param(name)
	if value == "" {
		return otherwise
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		q.found.Add(name, "must be a whole number")
	}
	return n
}

// boolParam is a parameter that is true or false. Default: false.
func (q *query) boolParam(name string) bool {
	switch strings.ToLower(q.param(name)) {
	case "", "false", "0", "no", "off":
		return false
	case "true", "1", "yes", "on":
		return true
	}
	q.found.Add(name, "must be true or false")
	return false
}

var ago = regexp.MustCompile(`^\d{1,6}[smhdw]$`)

// timeOf reads what [domain.ParseTime] reads, or how long ago as in 2h.
func timeOf(text string, now time.Time) (at time.Time, isDate bool, err error) {
	if ago.MatchString(text) {
		text = "-" + text
	}
	return domain.ParseTime(text, now.UTC())
}

// timeParam parses a client's time: with or without a zone, a date, or a period before now, such as 2h or 7d. A date
// means its beginning plus length. Zero if text is empty.
func (q *query) timeParam(field, text string, now time.Time, length time.Duration) time.Time {
	if text == "" {
		return time.Time{}
	}
	if at, isDate, err := timeOf(text, now); err == nil {
		if isDate {
			at = at.Add(length)
		}
		return at.UTC()
	}
	q.found.Add(field, "must be a time as in 2026-03-12T08:00:00Z, a date, or how long ago as in 2h or 7d")
	return time.Time{}
}

// unsupported are fields of OpenViking's requests that have no effect here, with the values that ask for nothing.
var unsupported = map[string]any{
	"watch_interval":        0.0,
	"strict":                false,
	"preserve_structure":    false,
	"directly_upload_media": true,
	"timeout":               nil,
	"telemetry":             false,
	"source_metadata":       nil,
}

// warnings lists the fields of the request that have no effect here.
func (q *query) warnings() []string {
	var warnings []string
	for _, name := range slices.Sorted(maps.Keys(unsupported)) {
		if value, given := q.fields[name]; given && value != nil && !reflect.DeepEqual(value, unsupported[name]) {
			warnings = append(warnings, name+" is not supported and has no effect")
		}
	}
	return warnings
}

// required notes that a field is missing.
func (q *query) required(name, value string) {
	if value == "" {
		q.found.Add(name, "is required")
	}
}
