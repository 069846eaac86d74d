package http

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// column is one of a list as a table: its name, and what stands there.
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
		b = appendCell(b, harmless(cell))
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

// harmless lets a spreadsheet take for text what it would take for a formula: other people wrote it.
// Numbers stay numbers.
func harmless(cell string) string {
	if cell == "" || !strings.ContainsRune("=+-@\t\r\n|%", rune(cell[0])) {
		return cell
	}
	if _, err := strconv.ParseFloat(cell, 64); err == nil {
		return cell
	}
	return "'" + cell
}

// The cells of values that are not text.

func wholeCell(n int64) string { return strconv.FormatInt(n, 10) }

func shareCell(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func timeCell(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func jsonCell(value any) string {
	written, err := json.Marshal(value)
	if err != nil || string(written) == "null" {
		return ""
	}
	return string(written)
}
