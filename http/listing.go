package http

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
)

// listing is a list that callers may read as pages of JSON, or as a whole as lines of JSON or CSV.
type listing[T any] struct {
	name    string // of the file that a browser keeps
	asked   any    // the query that a cursor belongs to
	columns []column[T]
	page    func(ctx context.Context, place int64, limit int) (items []T, next int64, err error)
}

// Paging are the parameters of every list.
type Paging struct {
	Limit  integer `query:"limit" doc:"1 to 500; 100 if left out. Lines and CSV go to the end of the list instead."`
	Cursor string  `query:"cursor" doc:"next_cursor of the page before, with the same filters."`
}

// streamedPage is how many lines are read from the database at a time.
const streamedPage = 200

// answer writes a list in the form that the caller accepts.
func (l listing[T]) answer(ctx context.Context, s *Server, c *call, in Paging) (*streamed, error) {
	format, err := c.accepts(jsonType, linesType, csvType)
	if err != nil {
		return nil, err
	}
	const usual, most = 100, 500
	limit := int(in.Limit.read(&c.found, "limit", 1, most))
	if format != jsonType && in.Limit != "" {
		c.found.Add("limit", "is for pages of JSON: lines and CSV go to the end")
	}
	if err := c.found.Err(); err != nil {
		return nil, err
	}
	place, err := placeOf(in.Cursor, l.asked)
	if err != nil {
		return nil, err
	}
	switch {
	case format != jsonType:
		limit = streamedPage
	case limit == 0:
		limit = usual
	}
	items, next, err := l.page(ctx, place, limit)
	if err != nil {
		return nil, err
	}
	if format != jsonType {
		return &streamed{Body: func(to huma.Context) { l.streamAll(s, c, to, format, items, next) }}, nil
	}
	return &streamed{Body: func(to huma.Context) {
		to.SetHeader("Content-Type", jsonType)
		to.SetStatus(http.StatusOK)
		write(to.BodyWriter(), api.Page[T]{Items: append([]T{}, items...), NextCursor: cursor(next, l.asked)})
	}}, nil
}

// streamAll writes page after page. It reads the next page after it has sent the last one. An error cuts the
// connection, so that the caller does not take half a list for a whole one.
func (l listing[T]) streamAll(s *Server, c *call, to huma.Context, format string, items []T, next int64) {
	to.SetHeader("Content-Type", format)
	if format == csvType {
		to.SetHeader("Content-Type", csvType+"; charset=utf-8; header=present")
		to.SetHeader("Content-Disposition", fmt.Sprintf(`attachment; filename="%s.csv"`, l.name))
	}
	to.SetStatus(http.StatusOK)
	control := http.NewResponseController(c.response)
	var rows []byte
	if format == csvType {
		rows = l.appendHead(rows)
	}
	for {
		rows = l.appendItems(rows, format, items)
		_ = control.SetWriteDeadline(time.Now().Add(s.cfg.Timeout)) // not every writer has deadlines
		if _, err := c.response.Write(rows); err != nil {
			c.err = fmt.Errorf("send a list: %w: %w", context.Canceled, err)
			panic(http.ErrAbortHandler)
		}
		_ = control.Flush()
		if next == 0 {
			return
		}
		var err error
		if items, next, err = l.nextPage(s, c, next); err != nil {
			c.err = err
			panic(http.ErrAbortHandler)
		}
		rows = rows[:0]
	}
}

func (l listing[T]) nextPage(s *Server, c *call, place int64) ([]T, int64, error) {
	ctx, cancel := context.WithTimeout(c.request.Context(), s.cfg.Timeout)
	defer cancel()
	select {
	case <-s.cut:
		return nil, 0, errClosing
	default:
	}
	if err := s.identities.goesOn(c); err != nil {
		return nil, 0, err
	}
	return l.page(ctx, place, streamedPage)
}

func (l listing[T]) appendHead(rows []byte) []byte {
	return appendRow(rows, mapped(l.columns, func(c column[T]) string { return c.name }))
}

func (l listing[T]) appendItems(rows []byte, format string, items []T) []byte {
	cells := make([]string, len(l.columns))
	for _, item := range items {
		if format != csvType {
			buffer := bytes.NewBuffer(rows)
			write(buffer, item)
			rows = buffer.Bytes()
			continue
		}
		for i, column := range l.columns {
			cells[i] = column.cell(item)
		}
		rows = appendRow(rows, cells)
	}
	return rows
}

// listed documents the formats of a list.
func listed[T any](s *Server, more ...string) map[string]*huma.Response {
	schemas := s.api.OpenAPI().Components.Schemas
	content := map[string]*huma.MediaType{
		jsonType:  {Schema: schemas.Schema(reflect.TypeFor[api.Page[T]](), true, "")},
		linesType: {Schema: schemas.Schema(reflect.TypeFor[T](), true, "")},
		csvType:   {Schema: &huma.Schema{Type: huma.TypeString}},
	}
	for _, form := range more {
		content[form] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
	}
	return map[string]*huma.Response{"200": {Description: "The list, in the form that you accept", Content: content}}
}

// column is a column of a CSV table: its name and how to format its cells.
type column[T any] struct {
	name string
	cell func(T) string
}

// appendRow appends a line of CSV (RFC 4180: commas, double quotes, CRLF).
func appendRow(b []byte, cells []string) []byte {
	for i, cell := range cells {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendCell(b, notFormula(cell))
	}
	return append(b, "\r\n"...)
}

func appendCell(b []byte, cell string) []byte {
	if !strings.ContainsAny(cell, "\",\r\n") && strings.TrimSpace(cell) == cell {
		return append(b, cell...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(cell, `"`, `""`)...)
	return append(b, '"')
}

// notFormula escapes texts that a spreadsheet would run as a formula, since other people wrote them. Numbers stay
// numbers.
func notFormula(cell string) string {
	if cell == "" || !strings.ContainsRune("=+-@\t\r\n|%", rune(cell[0])) {
		return cell
	}
	if _, err := strconv.ParseFloat(cell, 64); err == nil {
		return cell
	}
	return "'" + cell
}

// columnsOf are the columns for the fields of a T with these JSON names. A name that ends in ? leaves the cells of
// zero values empty.
func columnsOf[T any](names string) []column[T] {
	var all []column[T]
	for name := range strings.FieldsSeq(names) {
		name, sparse := strings.CutSuffix(name, "?")
		fields := reflect.VisibleFields(reflect.TypeFor[T]())
		at := fields[slices.IndexFunc(fields, func(f reflect.StructField) bool {
			json, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			return json == name
		})].Index
		all = append(all, column[T]{name, func(item T) string {
			if value := reflect.ValueOf(item).FieldByIndex(at); !sparse || !value.IsZero() {
				return cell(value.Interface())
			}
			return ""
		}})
	}
	return all
}

// cell formats a value for CSV; empty for a zero time or no number.
func cell(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	case []string:
		return strings.Join(v, " ")
	case int, int64, bool:
		return fmt.Sprint(v)
	}
	if pointer := reflect.ValueOf(value); pointer.Kind() == reflect.Pointer && !pointer.IsNil() {
		return cell(pointer.Elem().Interface())
	}
	written, err := json.Marshal(value)
	if err != nil || string(written) == "null" {
		return ""
	}
	return string(written)
}

func wholeCell(n int64) string { return strconv.FormatInt(n, 10) }

// A cursor names where the following page begins. It is base64url of 8 bytes of place and the first 8 bytes of a
// SHA-256 of the place and the query. So it is valid for that query only. It is not secret.
const cursorBytes = 16

// cursor is empty at the end.
func cursor(place int64, question any) string {
	if place == 0 {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(append(placeBytes(place), sealOf(place, question)...))
}

const notItsCursor = "does not belong to this question: send next_cursor as it came, with the same filters, " +
	"or begin without"

// keyedCursor is a cursor of a sorted list. Between the place and the checksum it has the key of the last item.
func keyedCursor(place, key int64, question any) string {
	if place == 0 {
		return ""
	}
	raw := append(placeBytes(place), placeBytes(key)...)
	return base64.RawURLEncoding.EncodeToString(append(raw, sealOf(place, []any{key, question})...))
}

// keyedPlaceOf is [placeOf] for a cursor of keyedCursor.
func keyedPlaceOf(given string, question any) (place, key int64, err error) {
	place, rest := unseal(given)
	if len(rest) != cursorBytes || place <= 0 {
		return 0, 0, refuseCursor(given)
	}
	key = int64(binary.BigEndian.Uint64(rest))
	if !bytes.Equal(rest[8:], sealOf(place, []any{key, question})) {
		return 0, 0, refuseCursor(given)
	}
	return place, key, nil
}

// refuseCursor refuses a cursor, unless it is empty.
func refuseCursor(given string) error {
	var p domain.Problems
	if given != "" {
		p.Add("cursor", notItsCursor)
	}
	return p.Err()
}

// placeOf reads a cursor: 0 without one, a refusal if it belongs to another query.
func placeOf(given string, question any) (int64, error) {
	place, seal := unseal(given)
	if place > 0 && bytes.Equal(seal, sealOf(place, question)) {
		return place, nil
	}
	return 0, refuseCursor(given)
}

// isCursor tells whether given has the form of a cursor.
func isCursor(given string) bool {
	place, _ := unseal(given)
	return given == "" || place > 0
}

// unseal splits a cursor into its place and the rest; 0 if it is none.
func unseal(given string) (place int64, seal []byte) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(given)
	if err != nil || len(raw) != cursorBytes && len(raw) != cursorBytes+8 {
		return 0, nil
	}
	return int64(binary.BigEndian.Uint64(raw)), raw[8:]
}

func placeBytes(place int64) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(place))
}

func sealOf(place int64, question any) []byte {
	asked, _ := json.Marshal(question) // questions are plain structs
	sum := sha256.Sum256(append(placeBytes(place), asked...))
	return sum[:8]
}

// The formats of lists besides JSON.
const (
	streamType = "text/event-stream"
	csvType    = "text/csv"
)

// accepts picks the offered format that the caller prefers; the first if they have no preference. A refusal lists
// those offered.
func (c *call) accepts(offered ...string) (string, error) {
	best, liked := "", 0.0
	wanted := strings.Join(c.request.Header.Values("Accept"), ",")
	if strings.TrimSpace(wanted) == "" {
		return offered[0], nil
	}
	for part := range strings.SplitSeq(wanted, ",") {
		media, parameters, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		quality, err := strconv.ParseFloat(parameters["q"], 64)
		if err != nil {
			quality = 1
		}
		for _, offer := range offered {
			if matches(media, offer) && quality > liked {
				best, liked = offer, quality
			}
		}
	}
	if best == "" {
		return "", domain.Refuse(errAccept, "there is no such answer to this").
			WithFix("accept one of %s", strings.Join(offered, ", "))
	}
	return best, nil
}

// onlyForm is the only format of a reading operation, which it documents; empty for an operation that writes or that
// picks a format itself.
func onlyForm(op *huma.Operation) string {
	if op.Method != http.MethodGet || slices.Contains(op.Errors, http.StatusNotAcceptable) {
		return ""
	}
	op.Errors = append(slices.Clone(op.Errors), http.StatusNotAcceptable)
	if answer := op.Responses["200"]; answer != nil {
		for form := range answer.Content {
			return form
		}
	}
	return jsonType
}

func matches(wanted, offer string) bool {
	family, _, _ := strings.Cut(offer, "/")
	return wanted == offer || wanted == "*/*" || wanted == family+"/*"
}
