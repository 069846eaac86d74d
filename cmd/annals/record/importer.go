package record

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
)

// importer sends batches, a few at a time, and hands their answers on in the order of the input.
type importer struct {
	from     source // what is read
	send     func(context.Context, Batch) ([]lineAnswer, error)
	parallel int // requests under way at once, at least 1

	torn error // why the input could not be read to its end
}

// pending is a batch on its way.
type pending struct {
	batch   Batch
	answers []lineAnswer // one for each record
	err     error
	done    chan struct{}
}

// run reads the input to its end, or as far as it can be read. When something fails or ctx ends it reads no further,
// and waits for the answers to what it has sent. The error joins the server's, take's and the context's.
func (m *importer) run(ctx context.Context, input io.Reader, take func(Batch, []lineAnswer) error) error {
	reading, stop := context.WithCancel(ctx)
	defer stop()
	source := readBatches(reading, input)
	interrupted := ctx.Done()
	var underway []*pending
	var failed error
	for source != nil || len(underway) > 0 {
		var next <-chan readBatch
		if len(underway) < m.parallel {
			next = source
		}
		var first <-chan struct{}
		if len(underway) > 0 {
			first = underway[0].done
		}
		select {
		case read, more := <-next:
			switch {
			case !more:
				source = nil
			case read.err != nil:
				m.torn, source = m.from.broken(read.err), nil
			default:
				underway = append(underway, m.begin(ctx, read.batch))
			}
		case <-first:
			p := underway[0]
			underway = underway[1:]
			err := p.err
			if err == nil {
				err = take(p.batch, p.answers)
			}
			if err != nil {
				failed, source = errors.Join(failed, err), nil
			}
		case <-interrupted:
			failed, source, interrupted = errors.Join(failed, ctx.Err()), nil, nil
		}
	}
	return failed
}

// begin sends a batch.
func (m *importer) begin(ctx context.Context, b Batch) *pending {
	p := &pending{batch: b, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.answers, p.err = m.send(ctx, b)
	}()
	return p
}

type readBatch struct {
	batch Batch
	err   error
}

// readBatches reads ahead by one batch. Its goroutine ends with the input, or at the next batch
// once ctx has ended; nobody waits for it, since a read of standard input cannot be interrupted.
func readBatches(ctx context.Context, input io.Reader) <-chan readBatch {
	source := make(chan readBatch)
	go func() {
		defer close(source)
		for b, err := range batches(input) {
			select {
			case source <- readBatch{b, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return source
}

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
			raw = withPlacement(raw, from.laid)
		}
		raw = withField(identified(raw, who), "causation_id", b.Records[i].origin(from.name))
		body.Write(withField(raw, "reason", reason))
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
