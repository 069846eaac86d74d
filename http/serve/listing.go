package serve

import (
	"bytes"
	"cmp"
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

// Listing is a list that callers may read as pages of JSON, or as a whole as lines of JSON or CSV.
type Listing[T any] struct {
	Name    string // of the file that a browser keeps
	Query   any    // the query that a cursor belongs to
	Columns []Column[T]
	Page    func(ctx context.Context, place int64, limit int) (items []T, next int64, err error)
}

// Paging are the parameters of every list.
type Paging struct {
	Limit  Integer `query:"limit" doc:"1 to 500; 100 if left out. Where a list can be lines or CSV, these go to its end."`
	Cursor string  `query:"cursor" doc:"next_cursor of the page before, with the same filters."`
}

// Size is how many items a page has.
func (p Paging) Size(c *Call) int {
	const usual, most = 100, 500
	return cmp.Or(int(p.Limit.Read(&c.Found, "limit", 1, most)), usual)
}

// streamedPage is how many lines are read from the database at a time.
const streamedPage = 200

// Answer writes a list in the form that the caller accepts.
func (l Listing[T]) Answer(ctx context.Context, c *Call, in Paging) (*Streamed, error) {
	format, err := c.Accepts(JSONType, LinesType, CsvType)
	if err != nil {
		return nil, err
	}
	limit := in.Size(c)
	if format != JSONType && in.Limit != "" {
		c.Found.Add("limit", "is for pages of JSON: lines and CSV go to the end")
	}
	if err := c.Found.Err(); err != nil {
		return nil, err
	}
	place, err := PlaceOf(in.Cursor, l.Query)
	if err != nil {
		return nil, err
	}
	if format != JSONType {
		limit = streamedPage
	}
	items, next, err := l.Page(ctx, place, limit)
	if err != nil {
		return nil, err
	}
	if format != JSONType {
		return &Streamed{Body: func(to huma.Context) { l.streamAll(c, to, format, items, next) }}, nil
	}
	return JSON(api.Page[T]{Items: append([]T{}, items...), NextCursor: Cursor(next, l.Query)}), nil
}

// streamAll writes page after page. It reads the next page after it has sent the last one. An error cuts the
// connection, so that the caller does not take half a list for a whole one.
func (l Listing[T]) streamAll(c *Call, to huma.Context, format string, items []T, next int64) {
	to.SetHeader("Content-Type", format)
	if format == CsvType {
		to.SetHeader("Content-Type", CsvType+"; charset=utf-8; header=present")
		to.SetHeader("Content-Disposition", fmt.Sprintf(`attachment; filename="%s.csv"`, l.Name))
	}
	to.SetStatus(http.StatusOK)
	control := http.NewResponseController(c.Response)
	var rows []byte
	if format == CsvType {
		rows = l.appendHead(rows)
	}
	for {
		rows = l.appendItems(rows, format, items)
		_ = control.SetWriteDeadline(time.Now().Add(c.API.Timeout)) // not every writer has deadlines
		if _, err := c.Response.Write(rows); err != nil {
			c.Err = fmt.Errorf("send a list: %w: %w", context.Canceled, err)
			panic(http.ErrAbortHandler)
		}
		_ = control.Flush()
		if next == 0 {
			return
		}
		var err error
		if items, next, err = l.nextPage(c, next); err != nil {
			c.Err = err
			panic(http.ErrAbortHandler)
		}
		rows = rows[:0]
	}
}

func (l Listing[T]) nextPage(c *Call, place int64) ([]T, int64, error) {
	ctx, cancel := context.WithTimeout(c.Request.Context(), c.API.Timeout)
	defer cancel()
	if err := c.API.MayGoOn(c); err != nil {
		return nil, 0, err
	}
	return l.Page(ctx, place, streamedPage)
}

func (l Listing[T]) appendHead(rows []byte) []byte {
	return appendRow(rows, Map(l.Columns, func(c Column[T]) string { return c.Name }))
}

func (l Listing[T]) appendItems(rows []byte, format string, items []T) []byte {
	cells := make([]string, len(l.Columns))
	for _, item := range items {
		if format != CsvType {
			buffer := bytes.NewBuffer(rows)
			WriteJSON(buffer, item)
			rows = buffer.Bytes()
			continue
		}
		for i, column := range l.Columns {
			cells[i] = column.Cell(item)
		}
		rows = appendRow(rows, cells)
	}
	return rows
}

// Listed documents the formats of a list.
func Listed[T any](a *API, more ...string) map[string]*huma.Response {
	schemas := a.Huma.OpenAPI().Components.Schemas
	content := map[string]*huma.MediaType{
		JSONType:  {Schema: schemas.Schema(reflect.TypeFor[api.Page[T]](), true, "")},
		LinesType: {Schema: schemas.Schema(reflect.TypeFor[T](), true, "")},
		CsvType:   {Schema: &huma.Schema{Type: huma.TypeString}},
	}
	for _, form := range more {
		content[form] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
	}
	return map[string]*huma.Response{"200": {Description: "The list, in the form that you accept", Content: content}}
}

// Column is a column of a CSV table: its name and how to format its cells.
type Column[T any] struct {
	Name string
	Cell func(T) string
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

// ColumnsOf are the columns for the fields of a T with these JSON names. A name that ends in ? leaves the cells of
// zero values empty.
func ColumnsOf[T any](names string) []Column[T] {
	var all []Column[T]
	for name := range strings.FieldsSeq(names) {
		name, sparse := strings.CutSuffix(name, "?")
		fields := reflect.VisibleFields(reflect.TypeFor[T]())
		at := fields[slices.IndexFunc(fields, func(f reflect.StructField) bool {
			json, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			return json == name
		})].Index
		all = append(all, Column[T]{name, func(item T) string {
			if value := reflect.ValueOf(item).FieldByIndex(at); !sparse || !value.IsZero() {
				return Cell(value.Interface())
			}
			return ""
		}})
	}
	return all
}

// Cell formats a value for CSV; empty for a zero time or no number.
func Cell(value any) string {
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
		return Cell(pointer.Elem().Interface())
	}
	written, err := json.Marshal(value)
	if err != nil || string(written) == "null" {
		return ""
	}
	return string(written)
}

func WholeCell(n int64) string { return strconv.FormatInt(n, 10) }

// A cursor names where the following page begins. It is base64url of 8 bytes of place and the first 8 bytes of a
// SHA-256 of the place and the query. So it is valid for that query only. It is not secret.
const cursorBytes = 16

// Cursor is empty at the end.
func Cursor(place int64, question any) string {
	if place == 0 {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(append(placeBytes(place), sealOf(place, question)...))
}

// NameCursor is a cursor of a list in the order of names: the checksum and the last name.
func NameCursor(last string, question any) string {
	if last == "" {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(append(sealOf(0, []any{last, question}), last...))
}

// NameOf is the name that a cursor of NameCursor has: empty without one, a refusal if it belongs to another query.
func NameOf(cursor string, question any) (last string, err error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err == nil && len(raw) > 8 && NameCursor(string(raw[8:]), question) == cursor {
		return string(raw[8:]), nil
	}
	return "", refuseCursor(cursor)
}

const notItsCursor = "does not belong to this question: send next_cursor as it came, with the same filters, " +
	"or begin without"

// KeyedCursor is a cursor of a sorted list. Between the place and the checksum it has the key of the last item.
func KeyedCursor(place, key int64, question any) string {
	if place == 0 {
		return ""
	}
	raw := append(placeBytes(place), placeBytes(key)...)
	return base64.RawURLEncoding.EncodeToString(append(raw, sealOf(place, []any{key, question})...))
}

// KeyedPlaceOf is [PlaceOf] for a cursor of KeyedCursor.
func KeyedPlaceOf(cursor string, question any) (place, key int64, err error) {
	place, rest := unseal(cursor)
	if len(rest) != cursorBytes || place <= 0 {
		return 0, 0, refuseCursor(cursor)
	}
	key = int64(binary.BigEndian.Uint64(rest))
	if !bytes.Equal(rest[8:], sealOf(place, []any{key, question})) {
		return 0, 0, refuseCursor(cursor)
	}
	return place, key, nil
}

// refuseCursor refuses a cursor, unless it is empty.
func refuseCursor(cursor string) error {
	var p domain.Problems
	if cursor != "" {
		p.Add("cursor", notItsCursor)
	}
	return p.Err()
}

// PlaceOf reads a cursor: 0 without one, a refusal if it belongs to another query.
func PlaceOf(cursor string, question any) (int64, error) {
	place, seal := unseal(cursor)
	if place > 0 && bytes.Equal(seal, sealOf(place, question)) {
		return place, nil
	}
	return 0, refuseCursor(cursor)
}

// isCursor tells whether text has the form of a cursor.
func isCursor(text string) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return text == "" || err == nil && len(raw) > 8
}

// unseal splits a cursor into its place and the rest; 0 if it is none.
func unseal(cursor string) (place int64, seal []byte) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(raw) != cursorBytes && len(raw) != cursorBytes+8 {
		return 0, nil
	}
	return int64(binary.BigEndian.Uint64(raw)), raw[8:]
}

func placeBytes(place int64) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(place))
}

func sealOf(place int64, question any) []byte {
	encoded, _ := json.Marshal(question) // questions are plain structs
	sum := sha256.Sum256(append(placeBytes(place), encoded...))
	return sum[:8]
}

// The formats of lists besides JSON.
const (
	StreamType = "text/event-stream"
	CsvType    = "text/csv"
)

// Accepts picks the offered format that the caller prefers; the first if they have no preference. A refusal lists
// those offered.
func (c *Call) Accepts(offered ...string) (string, error) {
	best, liked := "", 0.0
	wanted := strings.Join(c.Request.Header.Values("Accept"), ",")
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
	return JSONType
}

func matches(wanted, offer string) bool {
	family, _, _ := strings.Cut(offer, "/")
	return wanted == offer || wanted == "*/*" || wanted == family+"/*"
}

// Offset reads a list whose cursor counts items.
func Offset[D, T any](
	read func(ctx context.Context, skip int64, limit int) ([]D, error), show func(D) T,
) func(context.Context, int64, int) ([]T, int64, error) {
	return func(ctx context.Context, place int64, limit int) ([]T, int64, error) {
		found, err := read(ctx, place, limit+1)
		next := int64(0)
		if len(found) > limit {
			found, next = found[:limit], place+int64(limit)
		}
		return Map(found, show), next, err
	}
}
