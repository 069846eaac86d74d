package record

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/body"
)

// Record is one record of an import.
type Record struct {
	Number int    // of the line, or of the record if records span lines; from 1
	Place  string // "line 7" or "record 7, which ends in line 31"
	Raw    []byte // JSON on one line, or the invalid line
	Size   int    // in bytes of the input
	Err    error  // why it cannot be sent

	Spans bool // records are numbered, not lines
}

// longestRecord is the largest record in bytes. The largest valid one is smaller, even if every character is escaped.
const longestRecord = 1 << 20

var errTooLong = domain.Refuse(domain.ErrTooLarge, "longer than %d bytes",
	longestRecord).WithFix("split it into sections")

// records reads lines of JSON, or JSON arrays and records that span lines, depending on the beginning. It
// decompresses gzip. A bad record does not end the sequence. If reading fails, it yields the error and ends.
func records(in io.Reader) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		reader := bufio.NewReaderSize(in, longestRecord)
		if mark, _ := reader.Peek(2); bytes.Equal(mark, []byte("\x1f\x8b")) {
			opened, err := gzip.NewReader(reader)
			if err != nil {
				yield(Record{}, fmt.Errorf("the input looks compressed with gzip, and is not: %w", err))
				return
			}
			reader = bufio.NewReader(opened)
		}
		reader = bufio.NewReaderSize(body.UTF8(reader), longestRecord)
		first, err := peekPastSpace(reader)
		switch {
		case errors.Is(err, io.EOF):
		case errors.Is(err, io.ErrUnexpectedEOF): // of what is compressed
			yield(Record{}, errors.New("the input cannot be read: it ends too early"))
		case err != nil:
			yield(Record{}, fmt.Errorf("read the input: %w", err))
		case first == '{' && isLog(reader):
			yield(Record{}, terminal.Wrong("annals export knowledge writes what can be imported",
				"this is an exported log: it says what happened, and not what is known"))
		case first != '{' && !(first == '[' && isArray(reader)) && isProse(reader):
			yield(Record{}, terminal.Wrong(insteadOfImport, noObject))
		case first == '[', first == '{' && spansLines(reader):
			values(reader, yield)
		default:
			lines(reader, yield)
		}
	}
}

// peekPastSpace returns the first character that is not a space and consumes nothing, so that lines are counted
// correctly. It looks only into the reader's buffer.
func peekPastSpace(reader *bufio.Reader) (byte, error) {
	for n := 1; ; n++ {
		seen, err := reader.Peek(n)
		if len(seen) < n {
			if errors.Is(err, bufio.ErrBufferFull) {
				return ' ', nil
			}
			return 0, err
		}
		if !isSpace(seen[n-1]) {
			return seen[n-1], nil
		}
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// spansLines tells whether the first line is the beginning of a record that continues on the next lines. An invalid
// line is no such beginning.
func spansLines(reader *bufio.Reader) bool {
	ahead := &peeking{reader: reader}
	var whole json.RawMessage
	if json.NewDecoder(ahead).Decode(&whole) != nil {
		return false
	}
	return bytes.ContainsRune(whole, '\n')
}

// isArray tells whether an input that begins with a bracket is an array. It must continue like an array of objects or
// an empty one, or be valid JSON: a text may begin with a link.
func isArray(reader *bufio.Reader) bool {
	ahead, _ := reader.Peek(reader.Buffered())
	if within := bytes.TrimLeft(ahead, "[ \t\r\n"); len(within) == 0 || within[0] == '{' || within[0] == ']' {
		return true
	}
	var err error
	decoder := json.NewDecoder(&peeking{reader: reader})
	for err == nil {
		err = decoder.Decode(new(json.RawMessage))
	}
	return errors.Is(err, io.EOF)
}

// isLog tells whether the first record is an event, as in an exported log.
func isLog(reader *bufio.Reader) bool {
	var fields map[string]json.RawMessage
	if json.NewDecoder(&peeking{reader: reader}).Decode(&fields) != nil {
		return false
	}
	return fields["event_id"] != nil && fields["stream"] != nil
}

// The problem of a text that is not JSON, and the fix.
const (
	noObject        = "no line of this is a JSON object"
	insteadOfImport = "annals remember - < FILE keeps it as one item, and POST /api/v1/resources as a page or several " +
		"(docs/openviking.md)"
)

// isProse tells whether no line is an object. It knows that only if the reader's buffer holds all lines.
func isProse(reader *bufio.Reader) bool {
	all, err := reader.Peek(longestRecord)
	if !errors.Is(err, io.EOF) {
		return false
	}
	for line := range bytes.Lines(all) {
		if line = bytes.TrimSpace(line); bytes.HasPrefix(line, []byte("{")) && json.Valid(line) {
			return false
		}
	}
	return true
}

// peeking reads the reader's buffer without consuming it.
type peeking struct {
	reader *bufio.Reader
	seen   int
}

func (p *peeking) Read(into []byte) (int, error) {
	// Wait for one more byte; then use everything that arrived with it.
	ahead, err := p.reader.Peek(p.seen + 1)
	if len(ahead) <= p.seen {
		return 0, err
	}
	ahead, _ = p.reader.Peek(p.reader.Buffered())
	n := copy(into, ahead[p.seen:])
	p.seen += n
	return n, nil
}

// lines yields the lines that are not blank.
func lines(reader *bufio.Reader, yield func(Record, error) bool) {
	for number := 1; ; number++ {
		raw, size, err := lineOf(reader)
		trimmed := bytes.TrimSpace(raw)
		r := Record{Number: number, Place: fmt.Sprintf("line %d", number), Raw: trimmed, Size: size}
		switch {
		case errors.Is(err, errTooLong):
			r.Raw, r.Err = nil, errTooLong
		case errors.Is(err, io.ErrUnexpectedEOF): // of what is compressed
			yield(Record{}, fmt.Errorf("line %d cannot be read: it ends too early", number))
			return
		case err != nil && !errors.Is(err, io.EOF):
			yield(Record{}, fmt.Errorf("read line %d: %w", number, err))
			return
		case len(trimmed) > 0:
			r.Err = notJSON(bytes.TrimRight(raw, " \t\r\n"))
		}
		if (len(trimmed) > 0 || r.Err != nil) && !yield(r, nil) || errors.Is(err, io.EOF) {
			return
		}
	}
}

// lineOf reads one line of at most [longestRecord] bytes; the rest of a longer one is read and dropped.
func lineOf(reader *bufio.Reader) (raw []byte, size int, err error) {
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

// values yields the values of the input, and the elements of its arrays. So it reads joined files one after the
// other.
func values(reader io.Reader, yield func(Record, error) bool) {
	place := &counting{in: reader, line: 1}
	decoder := json.NewDecoder(place)
	number := 0
	within := false // an array
	var err error
	for err == nil {
		if begins := !within && nextIsArray(decoder); begins || !decoder.More() {
			if _, err = decoder.Token(); err == nil {
				within = begins
			}
			continue
		}
		begin := decoder.InputOffset()
		var raw json.RawMessage
		if err = decoder.Decode(&raw); err != nil {
			break
		}
		number++
		place.pass(decoder.InputOffset())
		r := Record{
			Number: number, Place: fmt.Sprintf("record %d, which ends in line %d", number, place.line), Spans: true,
			Size: int(decoder.InputOffset() - begin),
		}
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
	if errors.Is(err, io.EOF) && !within {
		return
	}
	switch _, broken := errors.AsType[*json.SyntaxError](err); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("it ends too early")
	case broken:
		err = errors.New("what follows is not valid JSON")
	}
	if number == 0 {
		place.pass(decoder.InputOffset() + 1)
		yield(Record{}, fmt.Errorf("the JSON cannot be read from line %d on: %w", place.line, err))
		return
	}
	yield(Record{}, fmt.Errorf("the JSON cannot be read beyond record %d, which ends in line %d: %w", number, place.line,
		err))
}

// nextIsArray tells whether the next value is an array, whose elements are then read one by one.
func nextIsArray(decoder *json.Decoder) bool {
	if !decoder.More() { // More also reads up to the next value
		return false
	}
	ahead := bufio.NewReaderSize(decoder.Buffered(), 16)
	for {
		c, err := ahead.ReadByte()
		if err != nil || !isSpace(c) {
			return err == nil && c == '['
		}
	}
}

// notJSON names the invalid column of a line, without the text.
func notJSON(line []byte) error {
	switch broken, is := body.FindJSONError(line); {
	case !is:
		return nil
	case broken.Why != "":
		return domain.Refuse(domain.ErrMalformed, "%s", broken.Why)
	default:
		return domain.Refuse(domain.ErrMalformed, "this is not valid JSON: it breaks at column %d", broken.Column)
	}
}

// counting is a reader that finds the line of an offset. It keeps the ends of the lines that were read and not yet
// passed.
type counting struct {
	in   io.Reader
	read int64
	ends []int64
	line int // the line of the last offset, from 1
}

func (c *counting) Read(into []byte) (int, error) {
	n, err := c.in.Read(into)
	for i, b := range into[:n] {
		if b == '\n' {
			c.ends = append(c.ends, c.read+int64(i))
		}
	}
	c.read += int64(n)
	return n, err
}

// pass advances to an offset.
func (c *counting) pass(place int64) {
	passed := 0
	for passed < len(c.ends) && c.ends[passed] < place {
		passed++
	}
	c.line += passed
	c.ends = c.ends[passed:]
}

// notVerified is the failure of a verification that found something wrong.
func notVerified(err error, fix string) error {
	return &terminal.Failure{Code: terminal.ExitFailed, Detail: "not verified: " + err.Error(), Fix: fix}
}
