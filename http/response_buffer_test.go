package http

import (
	"bufio"
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/body"
	"github.com/annals-kb/annals/http/serve"
)

// slowReader is a connection whose other side reads when it is let.
type slowReader struct {
	let    chan error // nil: one piece is taken
	taken  bytes.Buffer
	header http.Header
}

func (s *slowReader) Header() http.Header { return s.header }
func (s *slowReader) WriteHeader(int)     {}
func (s *slowReader) Write(piece []byte) (int, error) {
	if err := <-s.let; err != nil {
		return 0, err
	}
	return s.taken.Write(piece)
}

func TestAnswersWaitForAReaderUpToALimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reader := &slowReader{let: make(chan error)}
		begun := 0
		o := newResponseBuffer(reader, time.Minute, func() { begun++ })
		megabyte := bytes.Repeat([]byte("x"), 1<<20)
		const many = 50
		added := 0
		go func() {
			for range many {
				if err := o.add(megabyte); err != nil {
					t.Error(err)
				}
				added++
			}
		}()
		synctest.Wait()
		if most := 2 * (responseBufferLimit>>20 + 1); added < 16 || added > most { // what is due, and what is being sent
			t.Errorf("%d megabytes were accepted while nobody reads", added)
		}
		close(reader.let) // from now on everything is taken
		synctest.Wait()
		if err := o.close(); err != nil || added != many || reader.taken.Len() != many<<20 || begun != 1 {
			t.Errorf("%v: %d added, %d bytes taken, begun %d times", err, added, reader.taken.Len(), begun)
		}
	})
}

func TestWhenNobodyReadsAnyMoreTheSenderIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reader := &slowReader{let: make(chan error, 1)}
		gone := errors.New("gone")
		reader.let <- gone
		o := newResponseBuffer(reader, time.Minute, func() {})
		if err := o.add([]byte("x")); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if err := o.add([]byte("y")); !errors.Is(err, gone) {
			t.Errorf("got %v", err)
		}
		if err := o.close(); !errors.Is(err, gone) {
			t.Errorf("got %v", err)
		}
	})
}

func TestABodyWithoutEndIsCutOff(t *testing.T) {
	t.Parallel()
	noLimit := &timedBody{from: strings.NewReader("a\nb\nc\n"), left: 3, control: http.NewResponseController(httptest.NewRecorder())}
	var last error
	for r := range body.Lines(bufio.NewReader(noLimit), 20) {
		last = r.Err
	}
	if !errors.Is(serve.BodyError(last), domain.ErrTooLarge) {
		t.Errorf("got %v", last)
	}
}
