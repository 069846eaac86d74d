package http

import (
	"net/http"
	"sync"
	"time"
)

// responseBuffer sends answers while requests still arrive. A caller may send everything before it reads anything,
// until 16 MiB of answers wait. Twice that may be in memory, since as much may be on its way.
type responseBuffer struct {
	to       http.ResponseWriter
	patience time.Duration // for one write
	begin    func()        // runs before the first write
	mu       sync.Mutex
	changed  sync.Cond
	due      []byte
	closed   bool
	err      error
	sending  sync.WaitGroup
}

const responseBufferLimit = 16 << 20

// newResponseBuffer starts to send; [responseBuffer.close] ends it.
func newResponseBuffer(to http.ResponseWriter, patience time.Duration, begin func()) *responseBuffer {
	o := &responseBuffer{to: to, patience: patience, begin: sync.OnceFunc(begin)}
	o.changed.L = &o.mu
	o.sending.Go(o.send)
	return o
}

// add queues answers. The error means that the caller reads no more.
func (o *responseBuffer) add(answers []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.due) > responseBufferLimit && o.err == nil {
		o.changed.Wait()
	}
	o.due = append(o.due, answers...)
	o.changed.Broadcast()
	return o.err
}

// close waits until everything is sent, or until the caller stops reading.
func (o *responseBuffer) close() error {
	o.mu.Lock()
	o.closed = true
	o.changed.Broadcast()
	o.mu.Unlock()
	o.sending.Wait()
	return o.err
}

func (o *responseBuffer) send() {
	var piece []byte
	for {
		o.mu.Lock()
		for len(o.due) == 0 && !o.closed {
			o.changed.Wait()
		}
		piece, o.due = o.due, piece[:0]
		o.changed.Broadcast()
		o.mu.Unlock()
		if len(piece) == 0 {
			return
		}
		if err := o.write(piece); err != nil {
			o.mu.Lock()
			o.err = err
			o.changed.Broadcast()
			o.mu.Unlock()
			return
		}
	}
}

func (o *responseBuffer) write(piece []byte) error {
	o.begin()
	control := http.NewResponseController(o.to)
	_ = control.SetWriteDeadline(time.Now().Add(o.patience)) // not every writer has deadlines
	if _, err := o.to.Write(piece); err != nil {
		return err
	}
	_ = control.Flush()
	return nil
}
