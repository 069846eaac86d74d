package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
)

// record is one piece of knowledge in an import: a line of NDJSON, or an element of an array.
type record struct {
	Number int    // of the line or the element, from 1
	Raw    []byte // JSON on one line, or whatever the line held
	Size   int    // bytes of the input that it took
	Err    error  // why it cannot be sent; Raw is then empty
}

// longestRecord bounds one record: the largest acceptable one, every character escaped, is smaller.
const longestRecord = 1 << 20

var errTooLong = fmt.Errorf("longer than %d bytes", longestRecord)

// records reads NDJSON or a JSON array: whichever the first character says. It yields an error
// and ends where the input itself cannot be read on; a bad record does not end it.
func records(in io.Reader) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		reader := bufio.NewReaderSize(in, 64<<10)
		if mark, _ := reader.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
			_, _ = reader.Discard(3)
		}
		first, err := peekPastSpace(reader)
		switch {
		case errors.Is(err, io.EOF):
		case err != nil:
			yield(record{}, fmt.Errorf("read the input: %w", err))
		case first == '[':
			elements(reader, yield)
		default:
			lines(reader, yield)
		}
	}
}

// peekPastSpace looks at the first character that is no space, without taking anything: the
// lines before it count. It looks no further than the reader's buffer.
func peekPastSpace(reader *bufio.Reader) (byte, error) {
	for n := 1; ; n++ {
		seen, err := reader.Peek(n)
		if len(seen) < n {
			if errors.Is(err, bufio.ErrBufferFull) {
				return ' ', nil
			}
			return 0, err
		}
		if c := seen[n-1]; c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c, nil
		}
	}
}

// lines yields the lines that are not blank.
func lines(reader *bufio.Reader, yield func(record, error) bool) {
	for number := 1; ; number++ {
		raw, size, err := line(reader)
		trimmed := bytes.TrimSpace(raw)
		r := record{Number: number, Raw: trimmed, Size: size}
		switch {
		case errors.Is(err, errTooLong):
			r.Raw, r.Err = nil, errTooLong
		case err != nil && !errors.Is(err, io.EOF):
			yield(record{}, fmt.Errorf("read line %d: %w", number, err))
			return
		}
		if (len(trimmed) > 0 || r.Err != nil) && !yield(r, nil) || errors.Is(err, io.EOF) {
			return
		}
	}
}

// line reads one line of at most [longestRecord] bytes; the rest of a longer one is read and dropped.
func line(reader *bufio.Reader) (raw []byte, size int, err error) {
	for {
		part, err := reader.ReadSlice('\n')
		size += len(part)
		if size <= longestRecord {
			raw = append(raw, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if size > longestRecord && (err == nil || errors.Is(err, io.EOF)) {
			err = errors.Join(errTooLong, err)
		}
		return raw, size, err
	}
}

// elements yields the elements of an array.
func elements(reader io.Reader, yield func(record, error) bool) {
	decoder := json.NewDecoder(reader)
	_, err := decoder.Token()
	number := 0
	for err == nil && decoder.More() {
		begin := decoder.InputOffset()
		var raw json.RawMessage
		if err = decoder.Decode(&raw); err != nil {
			break
		}
		number++
		r := record{Number: number, Size: int(decoder.InputOffset() - begin)}
		var oneLine bytes.Buffer
		switch {
		case len(raw) > longestRecord:
			r.Err = errTooLong
		case json.Compact(&oneLine, raw) == nil:
			r.Raw = oneLine.Bytes()
		}
		if !yield(r, nil) {
			return
		}
	}
	if err == nil {
		_, err = decoder.Token()
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		yield(record{}, fmt.Errorf("the array cannot be read beyond element %d: %w", number, err))
	}
}
