package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// remember measures durable writes.
type remember struct {
	settings
	Clients []int `help:"How many clients write at once." default:"1,8,64"`
	Time    int   `help:"Seconds that one run of clients lasts." default:"10"`
	Records int   `help:"Records to import." default:"20000"`
}

// Run implements the command.
func (r *remember) Run(ctx context.Context) error {
	return r.run(ctx, "remember", func(ctx context.Context, s *session) error {
		requests := requestsBy(newAuthor(2))
		for _, clients := range r.Clients {
			length := time.Duration(r.Time) * time.Second
			err := inTurn(s.Rounds, s.programs, func(p program) error {
				return s.withServer(ctx, p, func(server *server) error {
					o, err := server.rememberFor(ctx, requests, clients, length)
					s.addRate(p.name, clients, o)
					return err
				})
			}, s.references(ctx, clients, length)...)
			if err != nil {
				return err
			}
		}
		return inTurn(s.Rounds, s.programs, func(p program) error { return r.startAndImport(ctx, s, p) })
	})
}

// requestsBy are 50,000 requests to remember, as sent over the network.
func requestsBy(a author) [][]byte {
	var requests [][]byte
	for _, it := range a.items(50_000) {
		body := it.body()
		requests = append(requests, fmt.Appendf(nil,
			"POST /v1/knowledge HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			len(body), body))
	}
	return requests
}

// addRate adds the figures of a run of clients.
func (s *session) addRate(name string, clients int, o outcome) {
	who := fmt.Sprintf("%d clients", clients)
	s.add(name, who, "items/s", o.rate())
	if len(o.times) > 0 {
		s.addTimes(name, who, o.times, 0.99)
	}
}

// rememberFor sends the requests, with one connection per client. Clients share the machine with the server, so they
// do little: requests are prepared, and of an answer only the status is read.
func (s *server) rememberFor(
	ctx context.Context, requests [][]byte, clients int, length time.Duration,
) (outcome, error) {
	return repeat(ctx, clients, length, func() (func(int64) error, func() error, error) {
		connection, err := net.Dial("tcp", s.address) //nolint:noctx // loopback: at once or never
		if err != nil {
			return nil, nil, err
		}
		answers := bufio.NewReader(connection)
		return func(i int64) error {
			if _, err := connection.Write(requests[i%int64(len(requests))]); err != nil {
				return err
			}
			answer, err := http.ReadResponse(answers, nil)
			if err != nil {
				return err
			}
			defer answer.Body.Close()
			if answer.StatusCode != http.StatusCreated {
				err = fmt.Errorf("remember: %s", answer.Status)
			}
			_, read := io.Copy(io.Discard, answer.Body)
			return errors.Join(err, read)
		}, connection.Close, nil
	})
}

// startAndImport starts the program with a new directory and database, imports records, waits until a search by meaning
// finds them, and starts the program again.
func (r *remember) startAndImport(ctx context.Context, s *session, p program) error {
	return s.withServer(ctx, p, func(server *server) error {
		s.add(p.name, "first start", "ms", server.starting.Seconds()*1000)
		if err := s.load(ctx, server, "", newAuthor(3).items(r.Records)); err != nil {
			return err
		}
		err := server.restart(ctx)
		s.add(p.name, "later start", "ms", server.starting.Seconds()*1000)
		return err
	})
}
