package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// drainTimeout is how long the server goes on answering after the host has closed its input.
const drainTimeout = time.Minute

// maxLine is the largest size of a message in bytes.
const maxLine = 16 << 20

// stdioTransport is a transport with one message per line. It ends when every request is answered. It answers a
// malformed line with an error.
type stdioTransport struct {
	in  io.ReadCloser
	out io.WriteCloser
}

func (l *stdioTransport) Connect(context.Context) (sdk.Connection, error) {
	c := &stdioConnection{
		stdioTransport: l, read: make(chan line), closed: make(chan struct{}), unanswered: map[jsonrpc.ID]bool{},
		wrote: make(chan struct{}, 1),
	}
	go c.receive()
	return c, nil
}

type line struct {
	text []byte
	err  error
}

type stdioConnection struct {
	*stdioTransport
	read   chan line
	closed chan struct{}
	close  sync.Once

	mu         sync.Mutex // held while writing, so that an id is free only after its answer
	unanswered map[jsonrpc.ID]bool
	wrote      chan struct{} // receives a value after each answer
}

// receive reads until the host closes its input. A read of standard input cannot be interrupted: it ends with the
// process.
func (c *stdioConnection) receive() {
	reader := bufio.NewReader(c.in)
	for {
		text, err := readLine(reader)
		select {
		case c.read <- line{text, err}:
		case <-c.closed:
			return
		}
		if err != nil && !errors.Is(err, errLineTooLong) {
			return
		}
	}
}

var errLineTooLong = errors.New("a message has at most 16 MiB")

// readLine reads a line; the last one may lack its line break. It reads and drops a line that is too long.
func readLine(reader *bufio.Reader) ([]byte, error) {
	var text []byte
	tooLong := false
	for {
		part, err := reader.ReadSlice('\n')
		if tooLong = tooLong || len(text)+len(part) > maxLine; tooLong {
			text = nil
		} else {
			text = append(text, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case tooLong:
			return nil, errLineTooLong
		case errors.Is(err, io.EOF) && len(bytes.TrimSpace(text)) > 0:
			return text, nil // the next read returns the error
		}
		return text, err
	}
}

func (c *stdioConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		var next line
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.closed:
			return nil, io.EOF
		case next = <-c.read:
		}
		var refused error
		switch {
		case errors.Is(next.err, errLineTooLong):
			refused = c.write(refusal(nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: errLineTooLong.Error()}))
		case next.err != nil:
			c.awaitAnswers(ctx)
			return nil, next.err
		case len(bytes.TrimSpace(next.text)) > 0:
			message, _, wrong := messageOf(next.text)
			if wrong == nil {
				wrong = c.accept(message)
			}
			if wrong == nil {
				return message, nil
			}
			refused = c.write(refusal(nil, wrong))
		}
		if refused != nil {
			return nil, refused
		}
	}
}

// accept notes a request that needs an answer. It refuses a request with the id of an unanswered one, since the host
// could not tell the answers apart.
func (c *stdioConnection) accept(message jsonrpc.Message) *jsonrpc.Error {
	request, is := message.(*jsonrpc.Request)
	if !is || !request.IsCall() || request.Method == "subscriptions/listen" { // answered when it ends
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unanswered[request.ID] {
		return &jsonrpc.Error{
			Code: jsonrpc.CodeInvalidRequest, Message: "a request with this id is not answered yet",
		}
	}
	c.unanswered[request.ID] = true
	return nil
}

// awaitAnswers waits until every request is answered.
func (c *stdioConnection) awaitAnswers(ctx context.Context) {
	enough := time.NewTimer(drainTimeout)
	defer enough.Stop()
	for {
		c.mu.Lock()
		left := len(c.unanswered)
		c.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-c.wrote:
		case <-c.closed:
			return
		case <-ctx.Done():
			return
		case <-enough.C:
			return
		}
	}
}

func (c *stdioConnection) Write(ctx context.Context, message jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	answer, is := message.(*jsonrpc.Response)
	if is && answer.Error != nil {
		answer.Error = withCode(answer.Error, jsonrpc.CodeInvalidRequest)
	}
	text, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	if !is {
		return c.write(text)
	}
	return c.write(text, answer.ID)
}

// write writes a line that answers the requests with the ids.
func (c *stdioConnection) write(text []byte, answered ...jsonrpc.ID) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.out.Write(append(text, '\n'))
	for _, id := range answered {
		delete(c.unanswered, id)
	}
	select {
	case c.wrote <- struct{}{}:
	default:
	}
	return err
}

func (c *stdioConnection) Close() error {
	var err error
	c.close.Do(func() {
		close(c.closed)
		err = errors.Join(c.in.Close(), c.out.Close())
	})
	return err
}

// SessionID implements [sdk.Connection]: one process has one session.
func (c *stdioConnection) SessionID() string { return "" }
