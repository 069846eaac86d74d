package http

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"

	"github.com/annals-kb/annals/domain"
)

// record is one of many in a body, or why it cannot be had.
type record struct {
	data []byte
	err  error
}

// splitter cuts a body into records of at most so many bytes. A record that is too long is an
// error of its own, and the next one follows. A body that breaks off is an error too, the last.
type splitter func(body *bufio.Reader, most int) iter.Seq[record]

// lines are separated by line breaks; empty ones do not count, and the last needs no break.
func lines(body *bufio.Reader, most int) iter.Seq[record] {
	return func(yield func(record) bool) {
		for {
			line, whole, err := readLine(body, most)
			switch {
			case err != nil && !errors.Is(err, io.EOF):
				yield(record{err: unread(err)})
				return
			case !whole:
				if !yield(record{err: tooLong(most)}) {
					return
				}
			case len(bytes.TrimSpace(line)) > 0:
				if !yield(record{data: line}) {
					return
				}
			}
			if err != nil {
				return
			}
		}
	}
}

// readLine reads to the next line break. What is longer than most is read too, but not kept.
func readLine(body *bufio.Reader, most int) (line []byte, whole bool, err error) {
	whole = true
	for {
		piece, err := body.ReadSlice('\n')
		if whole = whole && len(line)+len(bytes.TrimRight(piece, "\r\n")) <= most; whole {
			line = append(line, piece...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, whole, err
		}
	}
}

// elements are those of one JSON array. An element with an error inside is left to its reader;
// one that breaks the array's own form breaks off the body.
func elements(body *bufio.Reader, most int) iter.Seq[record] {
	return func(yield func(record) bool) {
		broken := func(format string, values ...any) {
			yield(record{err: domain.Refuse(domain.ErrMalformed, format, values...)})
		}
		if opening(body) != '[' {
			broken("the body is not an array")
			return
		}
		_, _ = body.Discard(1)
		for first := true; ; first = false {
			if opening(body) == ']' && first {
				break
			}
			element, whole, end, err := readElement(body, most)
			switch {
			case errors.Is(err, io.EOF):
				broken("the array is not closed")
				return
			case err != nil:
				yield(record{err: unread(err)})
				return
			case !whole:
				err = tooLong(most)
			case len(bytes.TrimSpace(element)) == 0:
				err = domain.Refuse(domain.ErrMalformed, "there is nothing between two commas")
			}
			if !yield(record{data: element, err: err}) {
				return
			}
			if end {
				break
			}
		}
		_, _ = body.Discard(1)
		if opening(body) != 0 {
			broken("something follows the array")
		}
	}
}

// readElement reads up to the comma after an element, or up to but not including the bracket
// that ends the array.
func readElement(body *bufio.Reader, most int) (element []byte, whole, end bool, err error) {
	whole = true
	depth, quoted, escaped := 0, false, false
	for {
		b, err := body.ReadByte()
		if err != nil {
			return nil, false, false, err
		}
		switch {
		case quoted:
			quoted = b != '"' || escaped
			escaped = b == '\\' && !escaped
		case b == '"':
			quoted = true
		case b == '{' || b == '[':
			depth++
		case depth == 0 && b == ',':
			return element, whole, false, nil
		case depth == 0 && b == ']':
			return element, whole, true, body.UnreadByte()
		case b == '}' || b == ']':
			depth--
		}
		if whole = whole && len(element) < most; whole {
			element = append(element, b)
		}
	}
}

func tooLong(most int) error {
	return domain.Refuse(domain.ErrTooLarge, "an item may have at most %d bytes", most).
		WithFix("split it into sections")
}
