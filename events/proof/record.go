package proof

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/mod/sumdb/tlog"
)

// columns are the hashed columns of events, in hashing order.
const columns = `e.tenant, e.position, e.event_id, e.stream, e.version, e.name, e.schema_version, e.recorded_at,
	e.occurred_at, e.actor, e.on_behalf_of, e.authentication, e.request_id, e.correlation_id,
	e.causation_id, e.traceparent, e.reason_code, e.data, e.text_commitment`

// The indexes of the columns that are also checked.
const (
	atPosition   = 1
	atEventID    = 2
	atStream     = 3
	atVersion    = 4
	atName       = 5
	atRecordedAt = 7
	atData       = 17
	atCommitment = 18
	hashedFields = 19
)

// separator begins the hashed bytes of every record.
const separator = "annals event 1\n"

// field is a stored value in the form that is hashed.
type field struct {
	bytes   []byte
	present bool
}

// Scan accepts the values of a driver: text and bytes unchanged, numbers in decimal digits, and times in UTC with six
// decimals.
func (f *field) Scan(value any) error {
	f.bytes, f.present = f.bytes[:0], value != nil
	switch v := value.(type) {
	case nil:
	case int64:
		f.bytes = strconv.AppendInt(f.bytes, v, 10)
	case []byte:
		f.bytes = append(f.bytes, v...)
	case string:
		f.bytes = append(f.bytes, v...)
	case time.Time:
		f.bytes = v.UTC().AppendFormat(f.bytes, "2006-01-02T15:04:05.000000Z")
	default:
		return fmt.Errorf("a column holds a %T", value)
	}
	return nil
}

// stored is a stored event: its hashed fields, the hash, and the text with its salt.
type stored struct {
	fields           [hashedFields]field
	hash, salt, text field
}

func (s *stored) targets() []any {
	targets := make([]any, 0, hashedFields+3)
	for i := range s.fields {
		targets = append(targets, &s.fields[i])
	}
	return append(targets, &s.hash, &s.salt, &s.text)
}

// span is a part of a chunk's bytes; empty if absent.
type span struct {
	from, to int
	present  bool
}

// record is a stored event within a chunk, with the result of checking it alone.
type record struct {
	position, version                     int64
	canonical, hash, salt, text           span
	eventID, stream, name, at, data, seal span

	computed tlog.Hash // the record's hash, computed
	key      [16]byte  // distinguishes streams
	fault    string
	kind     string
	sealed   bool // the text exists and matches its commitment
}

// chunk holds consecutive records of one log, with the part of the tree over them.
type chunk struct {
	tenant  string
	lines   [][]byte // lines of a file, still to be parsed
	first   int64    // the number of the first line
	bytes   []byte
	records []record
	rows    []row
	signed  []signed
	strays  []int64       // positions of texts without an event
	naming  []string      // tables that name a tenant without a log
	beyond  positionQuery // positions after the log's end that other tables name
	lost    []Fault       // missing parts of the tree and of the checkpoints
	last    bool

	examined chan struct{}
}

func (c *chunk) of(s span) []byte {
	if !s.present {
		return nil
	}
	return c.bytes[s.from:s.to]
}

func (c *chunk) put(f field) span {
	from := len(c.bytes)
	c.bytes = append(c.bytes, f.bytes...)
	return span{from, len(c.bytes), f.present}
}

// add copies a stored event into the chunk in its hashed form: see docs/events.md.
func (c *chunk) add(s *stored) {
	var r record
	var at [hashedFields]span
	start := len(c.bytes)
	c.bytes = append(c.bytes, separator...)
	for i, f := range s.fields {
		if !f.present {
			c.bytes = append(c.bytes, 0)
			continue
		}
		c.bytes = append(c.bytes, 1)
		c.bytes = binary.BigEndian.AppendUint64(c.bytes, uint64(len(f.bytes)))
		at[i] = c.put(f)
	}
	r.canonical = span{start, len(c.bytes), true}
	r.eventID, r.stream, r.name, r.at = at[atEventID], at[atStream], at[atName], at[atRecordedAt]
	r.data, r.seal = at[atData], at[atCommitment]
	r.hash, r.salt, r.text = c.put(s.hash), c.put(s.salt), c.put(s.text)
	r.position, _ = strconv.ParseInt(string(s.fields[atPosition].bytes), 10, 64)
	r.version, _ = strconv.ParseInt(string(s.fields[atVersion].bytes), 10, 64)
	c.records = append(c.records, r)
}

// examine checks every record alone. This is the slow part, and chunks run it concurrently.
func (c *chunk) examine() {
	c.parse()
	for i := range c.records {
		r := &c.records[i]
		if r.kind != "" {
			continue // it could not be parsed
		}
		r.computed = sha256.Sum256(c.of(r.canonical))
		stream := sha256.Sum256(c.of(r.stream))
		r.key = [16]byte(stream[:16])
		switch {
		case !bytes.Equal(r.computed[:], c.of(r.hash)):
			r.kind, r.fault = Hash, "the record is not what was recorded: its hash is another"
		case r.seal.present && r.text.present && r.salt.present:
			mac := hmac.New(sha256.New, c.of(r.salt))
			mac.Write(c.of(r.text))
			if r.sealed = hmac.Equal(mac.Sum(nil), c.of(r.seal)); !r.sealed {
				r.kind, r.fault = Text, "the text is not what was written: its commitment is another"
			}
		case !r.seal.present && (r.text.present || r.salt.present):
			r.kind, r.fault = Text, "there is a text, and the record knows of none"
		case r.text.present != r.salt.present:
			r.kind, r.fault = Text, "the text has no salt, or the salt no text"
		}
	}
}
