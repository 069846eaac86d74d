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

// query is one request on its way through a route.
type query struct {
	request *http.Request
	caller  caller
	found   domain.Problems // bad parameters, to be named together
	sent    []byte          // the body, once it was bound
	fields  map[string]any  // those of the body
	reason  string          // why something is changed, in the caller's words
}

// bind reads the body's JSON object into the fields of a struct, by their json tags. No body is an empty
// object, unknown fields are ignored, and null is as good as left out. The error names every bad field.
func (q *query) bind(into any) error {
	sent, err := q.body()
	if q.sent = sent; err != nil || len(bytes.TrimSpace(sent)) == 0 {
		return err
	}
	if err := body.Fill(sent, into, &q.found); err != nil {
		return err
	}
	_ = json.Unmarshal(sent, &q.fields) // it is an object
	if why, _ := q.fields["reason"].(string); why != "" {
		q.setReason(why)
	}
	return q.found.Err()
}

// audienceFields are fields by which requests say where something goes, and for whom.
var audienceFields = []string{"to", "parent", "target", "target_uri", "root_uri", "scope", "scopes", "visibility"}

// bindWrite is bind for a request that writes. One of places that the request does not have is refused and not
// ignored: what is written would be for others than the caller meant.
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

// at is the address that the body's field uri has, unless the body was refused.
func (q *query) at(refused error) (address, error) {
	if refused != nil {
		return address{}, refused
	}
	uri, _ := q.fields["uri"].(string)
	return q.caller.address("uri", uri)
}

// setReason notes why something is changed: every change of the request has it in its history.
func (q *query) setReason(reason string) {
	const most = 2000
	if q.reason = reason; utf8.RuneCountInString(reason) > most {
		q.found.Add("reason", "must be at most %d characters", most)
	}
}

// body reads what was sent, whole.
func (q *query) body() ([]byte, error) {
	const most = 8 << 20
	body, err := io.ReadAll(http.MaxBytesReader(nil, q.request.Body, most))
	if tooLarge, is := errors.AsType[*http.MaxBytesError](err); is {
		return nil, domain.Refuse(errBody, "a body may have at most %d bytes here", tooLarge.Limit)
	}
	if err != nil {
		return nil, domain.Refuse(domain.ErrMalformed, "the body ended too early")
	}
	return body, nil
}

// param is a parameter; empty if it was left out.
func (q *query) param(name string) string { return q.request.URL.Query().Get(name) }

// intParam is a parameter that is a whole number.
func (q *query) intParam(name string, otherwise int) int {
	given := q.param(name)
	if given == "" {
		return otherwise
	}
	n, err := strconv.Atoi(given)
	if err != nil {
		q.found.Add(name, "must be a whole number")
	}
	return n
}

// boolParam is a parameter that is true or false, and false if it was left out.
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

const day = 24 * time.Hour

// timeLayouts are the forms of times, the last a whole day. Those without a zone are in UTC.
var timeLayouts = []string{
	time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly,
}

// parseTime reads a time as clients write it. Of a date it is the day's begin.
func parseTime(s string) (at time.Time, isDate bool, err error) {
	for _, layout := range timeLayouts {
		if at, err = time.Parse(layout, s); err == nil {
			return at.UTC(), layout == time.DateOnly, nil
		}
	}
	return at, false, err
}

var ago = regexp.MustCompile(`^(\d{1,6})([smhdw])$`)

// timeParam is a time as clients write it: with or without a zone, a date, or how long ago as in 2h or 7d. Of a
// date it is the day's begin, and length later. Zero if nothing was given.
func (q *query) timeParam(field, given string, now time.Time, length time.Duration) time.Time {
	if given == "" {
		return time.Time{}
	}
	if parts := ago.FindStringSubmatch(given); parts != nil {
		count, _ := strconv.Atoi(parts[1]) // the expression lets digits pass
		return now.Add(
			-time.Duration(count) * map[string]time.Duration{
				"s": time.Second, "m": time.Minute, "h": time.Hour, "d": day, "w": 7 * day,
			}[parts[2]],
		)
	}
	if at, isDate, err := parseTime(given); err == nil && at.Year() > 1 {
		if isDate {
			at = at.Add(length)
		}
		return at
	}
	q.found.Add(field, "must be a time as in 2026-03-12T08:00:00Z, a date, or how long ago as in 2h or 7d")
	return time.Time{}
}

// unsupported are fields of OpenViking's requests that have no effect here, with the value that asks for nothing.
var unsupported = map[string]any{
	"watch_interval":        0.0,
	"strict":                false,
	"preserve_structure":    false,
	"directly_upload_media": true,
	"timeout":               nil,
	"telemetry":             false,
	"source_metadata":       nil,
}

// warnings name the fields of a request that have no effect here.
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
