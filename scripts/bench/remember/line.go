package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"
)

// requestOf is a request to remember, as it goes over the wire.
func requestOf(body []byte) []byte {
	head := fmt.Sprintf("POST /v1/knowledge HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", len(body))
	return append([]byte(head), body...)
}

// remember sends the requests with so many clients, each on one connection. Client and server share the machine, so the
// clients are as lean as pgbench is: a request was written before, and of an answer they read the status and the length.
func (s *server) remember(ctx context.Context, requests [][]byte, clients int, length time.Duration) (outcome, error) {
	before := processTime(os.Getpid())
	o, err := keepDoing(ctx, clients, length, func() (func(int64) error, func() error, error) {
		connection, err := net.Dial("tcp", s.address) //nolint:noctx // loopback: at once or never
		if err != nil {
			return nil, nil, err
		}
		l := &line{connection: connection, room: make([]byte, 64<<10)}
		return func(i int64) error { return l.ask(requests[i%int64(len(requests))]) }, connection.Close, nil
	})
	o.ask = processTime(os.Getpid()) - before
	return o, err
}

// line is a client's connection.
type line struct {
	connection net.Conn
	room       []byte // for an answer
}

// ask sends a request and reads the answer, which must say that something was created.
func (l *line) ask(request []byte) error {
	if _, err := l.connection.Write(request); err != nil {
		return err
	}
	for read := 0; ; {
		n, err := l.connection.Read(l.room[read:])
		if err != nil {
			return fmt.Errorf("after %q: %w", l.room[:read], err)
		}
		read += n
		if length, known := lengthOf(l.room[:read]); known && read >= length {
			if !bytes.HasPrefix(l.room, created) {
				return fmt.Errorf("remember: %s", l.room[:read])
			}
			return nil
		}
		if read == len(l.room) {
			return fmt.Errorf("an answer without an end: %q", l.room)
		}
	}
}

var (
	created  = []byte("HTTP/1.1 201 ")
	lengthIs = []byte("\r\nContent-Length: ")
	headEnds = []byte("\r\n\r\n")
)

// lengthOf is how long an answer will be with its head, as soon as that is known.
func lengthOf(answer []byte) (length int, known bool) {
	end := bytes.Index(answer, headEnds)
	at := bytes.Index(answer, lengthIs)
	if end < 0 || at < 0 || at > end {
		return 0, false
	}
	digits, _, _ := bytes.Cut(answer[at+len(lengthIs):], headEnds[:2])
	body, err := strconv.Atoi(string(digits))
	return end + len(headEnds) + body, err == nil
}
