package proof

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// line is a stored event as a line of an export. Bytes are strings here, so that every JSON parser returns exactly
// those bytes.
type line struct {
	Tenant         string  `json:"tenant"`
	Position       int64   `json:"position"`
	EventID        string  `json:"event_id"`
	Stream         string  `json:"stream"`
	Version        int64   `json:"version"`
	Name           string  `json:"name"`
	SchemaVersion  int64   `json:"schema_version"`
	RecordedAt     string  `json:"recorded_at"`
	OccurredAt     *string `json:"occurred_at,omitempty"`
	Actor          string  `json:"actor"`
	OnBehalfOf     *string `json:"on_behalf_of,omitempty"`
	Authentication string  `json:"authentication"`
	RequestID      *string `json:"request_id,omitempty"`
	CorrelationID  *string `json:"correlation_id,omitempty"`
	CausationID    *string `json:"causation_id,omitempty"`
	Traceparent    *string `json:"traceparent,omitempty"`
	ReasonCode     *string `json:"reason_code,omitempty"`
	Data           string  `json:"data"`
	TextCommitment *string `json:"text_commitment,omitempty"` // hexadecimal, as are hash and salt
	Hash           string  `json:"hash"`
	Salt           *string `json:"salt,omitempty"`
	Text           *string `json:"text,omitempty"`

	Manifest *manifest `json:"manifest,omitempty"`
}

// manifest is the last line of an export. It describes the content and proves it.
type manifest struct {
	Format      string      `json:"format"`
	Tenant      string      `json:"tenant"`
	After       int64       `json:"after"`
	Through     int64       `json:"through"`
	Head        int64       `json:"head"` // of the log when it was exported
	Count       int64       `json:"count"`
	Texts       bool        `json:"texts"`
	Before      []tlog.Hash `json:"before"`      // roots of the complete subtrees of the tree with After events
	Root        tlog.Hash   `json:"root"`        // of the tree with Through events
	Checkpoint  string      `json:"checkpoint"`  // signed; of at least Through events
	Consistency []tlog.Hash `json:"consistency"` // proves that its tree begins with the tree with Through events
	Earlier     []string    `json:"earlier"`     // signed checkpoints of fewer events than that
	Key         string      `json:"key"`
}

// exportFormat is written into every manifest.
const exportFormat = "annals log 1"

func lineOf(s *stored, texts bool) *line {
	number := func(at int) (n int64) {
		n, _ = strconv.ParseInt(string(s.fields[at].bytes), 10, 64)
		return n
	}
	word := func(at int) string { return string(s.fields[at].bytes) }
	l := &line{
		Tenant: word(0), Position: number(atPosition), EventID: word(atEventID), Stream: word(atStream),
		Version: number(atVersion),
		Name:    word(atName), SchemaVersion: number(6), RecordedAt: word(atRecordedAt), OccurredAt: plain(s.fields[8]),
		Actor: word(9), OnBehalfOf: plain(s.fields[10]), Authentication: word(11), RequestID: plain(s.fields[12]),
		CorrelationID: plain(s.fields[13]), CausationID: plain(s.fields[14]), Traceparent: plain(s.fields[15]),
		ReasonCode: plain(s.fields[16]), Data: word(atData), TextCommitment: hexed(s.fields[atCommitment]),
		Hash: hex.EncodeToString(s.hash.bytes),
	}
	if texts {
		l.Salt, l.Text = hexed(s.salt), plain(s.text)
	}
	return l
}

func plain(f field) *string {
	if !f.present {
		return nil
	}
	return new(string(f.bytes))
}

func hexed(f field) *string {
	if !f.present {
		return nil
	}
	return new(hex.EncodeToString(f.bytes))
}

// stored decodes a line into the stored event.
func (l *line) stored(s *stored) error {
	words := [hashedFields]any{
		l.Tenant, l.Position, l.EventID, l.Stream, l.Version, l.Name, l.SchemaVersion, l.RecordedAt, optional(l.OccurredAt),
		l.Actor, optional(l.OnBehalfOf), l.Authentication, optional(l.RequestID), optional(l.CorrelationID),
		optional(l.CausationID),
		optional(l.Traceparent), optional(l.ReasonCode), l.Data, nil,
	}
	var errs []error
	for i, word := range words {
		errs = append(errs, s.fields[i].Scan(word))
	}
	for _, part := range []struct {
		into *field
		from *string
	}{{&s.fields[atCommitment], l.TextCommitment}, {&s.hash, &l.Hash}, {&s.salt, l.Salt}} {
		if part.from == nil {
			errs = append(errs, part.into.Scan(nil))
			continue
		}
		bytes, err := hex.DecodeString(*part.from)
		errs = append(errs, err, part.into.Scan(bytes))
	}
	return errors.Join(append(errs, s.text.Scan(optional(l.Text)))...)
}

func optional(s *string) any {
	if s == nil {
		return nil
	}
	return *s
}

// parseLine reads one line of an export.
func parseLine(text []byte) (*line, error) {
	var l line
	if err := strictly(text, &l); err != nil {
		return nil, fmt.Errorf("it is not JSON as an export has it: %w", err)
	}
	return &l, nil
}

// strictly decodes JSON in which every key is known and occurs once, so that all parsers agree. The error never
// contains a text.
func strictly(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return errors.New("it cannot be read, or has an unknown key")
	}
	var open []map[string]bool // the keys of the objects that are open; nil for a list
	isKey := false
	for tokens := json.NewDecoder(bytes.NewReader(text)); ; {
		token, err := tokens.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return errors.New("there is more behind it")
		}
		if key, is := token.(string); is && isKey {
			if keys := open[len(open)-1]; keys[key] || key != strings.ToLower(key) { // encoding/json takes upper case for lower
				return errors.New("it has a repeated or unknown key")
			}
			open[len(open)-1][key] = true
			isKey = false
			continue
		}
		switch token {
		case json.Delim('{'):
			open = append(open, map[string]bool{})
		case json.Delim('['):
			open = append(open, nil)
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		}
		isKey = len(open) > 0 && open[len(open)-1] != nil
	}
}
