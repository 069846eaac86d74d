package record

import (
	"bytes"
	"io"
	"iter"
)

// Batch is what one request of an import carries.
type Batch struct {
	Records []Record
	Sent    []int // the indices of the records that are sent: those that can be
}

const (
	batchRecords = 500
	batchBytes   = 4 << 20
)

// batches groups records, in order. What was read before an error comes first.
func batches(in io.Reader) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		var b Batch
		size := 0
		flush := func() bool {
			full := b
			b, size = Batch{}, 0
			return len(full.Records) == 0 || yield(full, nil)
		}
		for r, err := range records(in) {
			if err != nil {
				if flush() {
					yield(Batch{}, err)
				}
				return
			}
			if len(b.Records) == batchRecords || size+len(r.Raw) > batchBytes {
				if !flush() {
					return
				}
			}
			if r.Err == nil {
				b.Sent = append(b.Sent, len(b.Records))
			}
			b.Records = append(b.Records, r)
			size += len(r.Raw)
		}
		flush()
	}
}

// body is a request's: one record a line, each with an id, with where it stands and why it is sent.
func (b Batch) body(records []int, who string, from source, reason string) []byte {
	var body bytes.Buffer
	for _, i := range records {
		raw := b.Records[i].Raw
		if from.laid != "" {
			raw = Placed(raw, from.laid)
		}
		raw = saying(identified(raw, who), "causation_id", b.Records[i].origin(from.name))
		body.Write(saying(raw, "reason", reason))
		body.WriteByte('\n')
	}
	return body.Bytes()
}

// size is how much of the input the batch took.
func (b Batch) size() int64 {
	size := 0
	for _, r := range b.Records {
		size += r.Size
	}
	return int64(size)
}
