package body

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// Record is one record of a body, or the error with which it was read.
type Record struct {
	Data []byte
	Err  error
}

// Splitter cuts a body into records of at most most bytes. A record that is too long becomes an error, and the next
// record follows. A body that breaks off becomes the last error.
type Splitter func(body *bufio.Reader, most int) iter.Seq[Record]

// Lines cuts a body at line breaks. It skips empty lines, and the last line needs no break.
func Lines(body *bufio.Reader, most int) iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for {
			line, whole, err := readLine(body, most)
			switch {
			case err != nil && !errors.Is(err, io.EOF):
				yield(Record{Err: err})
				return
			case !whole:
				if !yield(Record{Err: tooLong(most)}) {
					return
				}
			case len(bytes.TrimSpace(line)) > 0:
				if !yield(Record{Data: line}) {
					return
				}
			}
			if err != nil {
				return
			}
		}
	}
}

// readLine reads to the next line break. It reads and drops what is longer than most.
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

// Elements cuts one JSON array into its elements. It does not check the inside of an element. A mistake between
// elements ends the body with an error.
func Elements(body *bufio.Reader, most int) iter.Seq[Record] {
	return func(yield func(Record) bool) {
		broken := func(format string, values ...any) {
			yield(Record{Err: domain.Refuse(domain.ErrMalformed, format, values...)})
		}
		if Opening(body) != '[' {
			broken("the body is not an array")
			return
		}
		_, _ = body.Discard(1)
		for first := true; ; first = false {
			if Opening(body) == ']' && first {
				break
			}
			element, whole, end, err := readElement(body, most)
			switch {
			case errors.Is(err, io.EOF):
				broken("the array is not closed")
				return
			case err != nil:
				yield(Record{Err: err})
				return
			case !whole:
				err = tooLong(most)
			case len(bytes.TrimSpace(element)) == 0:
				err = domain.Refuse(domain.ErrMalformed, "there is nothing between two commas")
			}
			if !yield(Record{Data: element, Err: err}) {
				return
			}
			if end {
				break
			}
		}
		_, _ = body.Discard(1)
		if Opening(body) != 0 {
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

// Opening is the first byte of the body that is not white space; 0 if there is none.
func Opening(body *bufio.Reader) byte {
	for {
		first, err := body.Peek(1)
		if err != nil {
			return 0
		}
		if !strings.ContainsRune(" \t\r\n", rune(first[0])) {
			return first[0]
		}
		_, _ = body.Discard(1)
	}
}
