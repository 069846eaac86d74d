package http

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/api"
)

// listing is a list that can be had as pages of JSON, or to its end as lines of JSON or as CSV.
type listing[T any] struct {
	name    string // of the file that a browser keeps
	asked   any    // the question that a cursor belongs to
	columns []column[T]
	page    func(ctx context.Context, place int64, limit int) (items []T, next int64, err error)
}

// Paging are the parameters of every list.
type Paging struct {
	Limit  integer `query:"limit" doc:"1 to 500; 100 if left out. Lines and CSV go to the end of the list instead."`
	Cursor string  `query:"cursor" doc:"next_cursor of the page before, with the same filters."`
}

// lines are read from the database so many at a time.
const linesAtOnce = 200

// answer writes a list in the form that the caller accepts.
func (l listing[T]) answer(ctx context.Context, s *Server, c *call, format string, in Paging) (*streamed, error) {
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
		limit = linesAtOnce
	case limit == 0:
		limit = usual
	}
	items, next, err := l.page(ctx, place, limit)
	if err != nil {
		return nil, err
	}
	if format != jsonType {
		return &streamed{Body: func(to huma.Context) { l.toTheEnd(s, c, to, format, items, next) }}, nil
	}
	return &streamed{Body: func(to huma.Context) {
		to.SetHeader("Content-Type", jsonType)
		to.SetStatus(http.StatusOK)
		write(to.BodyWriter(), api.Page[T]{Items: append([]T{}, items...), NextCursor: cursor(next, l.asked)})
	}}, nil
}

// toTheEnd writes page after page while the next is not read before the last was taken. What goes
// wrong on the way cuts the connection, so that half a list is not taken for a whole one.
func (l listing[T]) toTheEnd(s *Server, c *call, to huma.Context, format string, items []T, next int64) {
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
		if items, next, err = l.following(s, c, next); err != nil {
			c.err = err
			panic(http.ErrAbortHandler)
		}
		rows = rows[:0]
	}
}

func (l listing[T]) following(s *Server, c *call, place int64) ([]T, int64, error) {
	ctx, cancel := context.WithTimeout(c.request.Context(), s.cfg.Timeout)
	defer cancel()
	select {
	case <-s.cut:
		return nil, 0, errClosing
	default:
	}
	return l.page(ctx, place, linesAtOnce)
}

func (l listing[T]) appendHead(rows []byte) []byte {
	names := make([]string, len(l.columns))
	for i, column := range l.columns {
		names[i] = column.name
	}
	return appendRow(rows, names)
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

// listed documents the forms in which a list can be had.
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
