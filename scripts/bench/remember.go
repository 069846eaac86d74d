package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"
)

// remember measures durable writes.
type remember struct {
	settings
	Clients []int `help:"How many clients write at once." default:"1,8,64"`
	Time    int   `help:"Seconds that one run of clients lasts." default:"10"`
	Records int   `help:"Records to import." default:"20000"`
	Starts  int   `help:"How often the program is started." default:"10"`
}

// Run implements the command.
func (r *remember) Run(ctx context.Context) error {
	return r.run(ctx, "remember", func(ctx context.Context, s *session) error {
		for _, measure := range []func(context.Context, *session) error{
			r.measureRates, r.measureReferences, r.measureImport,
			r.measureStarts,
		} {
			if err := measure(ctx, s); err != nil {
				return err
			}
		}
		return nil
	})
}

// measureRates lets clients remember, with each program in turn, on a new database each time.
func (r *remember) measureRates(ctx context.Context, s *session) error {
	requests := requestsBy(newAuthor(2))
	for _, clients := range r.Clients {
		for range s.Rounds {
			for _, p := range s.programs {
				o, err := s.rememberFor(ctx, p, requests, clients, time.Duration(r.Time)*time.Second)
				if err != nil {
					return err
				}
				s.addRates(p.name, clients, o)
			}
		}
	}
	return nil
}

// requestsBy are 50,000 requests to remember, as sent over the network.
func requestsBy(a author) [][]byte {
	var requests [][]byte
	for it := range a.items(50_000) {
		body := it.body()
		requests = append(requests, fmt.Appendf(nil,
			"POST /v1/knowledge HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			len(body), body))
	}
	return requests
}

// addRates adds the figures of a run of clients.
func (s *session) addRates(name string, clients int, o outcome) {
	who := strconv.Itoa(clients) + " clients"
	s.add(name, who, "items/s", more, o.rate())
	s.add(name, who+", p50", "ms", none, percentile(o.times, 0.50))
	s.add(name, who+", p99", "ms", none, percentile(o.times, 0.99))
}

func (s *session) rememberFor(ctx context.Context, p program, requests [][]byte, clients int,
	length time.Duration,
) (o outcome, err error) {
	server, err := s.start(ctx, p)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	return server.rememberFor(ctx, requests, clients, length)
}

// rememberFor sends the requests, with one connection per client. Clients share the machine with the server, so they
// do as little as pgbench: requests are prepared, and of an answer only the status and the length are read.
func (s *server) rememberFor(ctx context.Context, requests [][]byte, clients int, length time.Duration) (outcome,
	error,
) {
	return repeat(ctx, clients, length, func() (func(int64) error, func() error, error) {
		connection, err := net.Dial("tcp", s.address) //nolint:noctx // loopback: at once or never
		if err != nil {
			return nil, nil, err
		}
		buffer := make([]byte, 64<<10)
		return func(i int64) error {
			return exchange(connection, requests[i%int64(len(requests))], buffer)
		}, connection.Close, nil
	})
}

// exchange sends a request and reads the answer, which must have the status of a created item.
func exchange(connection net.Conn, request, buffer []byte) error {
	if _, err := connection.Write(request); err != nil {
		return err
	}
	for read := 0; read < len(buffer); {
		n, err := connection.Read(buffer[read:])
		if err != nil {
			return fmt.Errorf("after %q: %w", buffer[:read], err)
		}
		read += n
		if length, known := answerLength(buffer[:read]); known && read >= length {
			if !bytes.HasPrefix(buffer, []byte("HTTP/1.1 201 ")) {
				return fmt.Errorf("remember: %s", buffer[:read])
			}
			return nil
		}
	}
	return errors.New("an answer is longer than the buffer")
}

// answerLength is the length of an answer with its header, once the header has been read.
func answerLength(answer []byte) (length int, known bool) {
	head, _, whole := bytes.Cut(answer, []byte("\r\n\r\n"))
	_, after, found := bytes.Cut(head, []byte("\r\nContent-Length: "))
	if !whole || !found {
		return 0, false
	}
	digits, _, _ := bytes.Cut(after, []byte("\r\n"))
	body, err := strconv.Atoi(string(digits))
	return len(head) + 4 + body, err == nil
}

// measureImport imports records, and waits until a search by meaning finds them.
func (r *remember) measureImport(ctx context.Context, s *session) error {
	for range s.Rounds {
		for _, p := range s.programs {
			if err := r.importOnce(ctx, s, p); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *remember) importOnce(ctx context.Context, s *session, p program) (err error) {
	server, err := s.start(ctx, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	began := time.Now()
	if err := server.load(ctx, newAuthor(3).items(r.Records)); err != nil {
		return err
	}
	s.add(p.name, "import", "items/s", more, float64(r.Records)/time.Since(began).Seconds())
	if err := server.caughtUp(ctx); err != nil {
		return err
	}
	s.add(p.name, "import, until found by meaning", "items/s", more, float64(r.Records)/time.Since(began).Seconds())
	return nil
}

// measureStarts starts the program with a new directory and database, and then again with the same.
func (r *remember) measureStarts(ctx context.Context, s *session) error {
	for _, p := range s.programs {
		var cold, warm []float64
		for range r.Starts {
			c, w, err := s.startTwice(ctx, p)
			if err != nil {
				return err
			}
			cold, warm = append(cold, c.Seconds()*1000), append(warm, w.Seconds()*1000)
		}
		s.add(p.name, "first start, p50", "ms", less, median(cold))
		s.add(p.name, "first start, max", "ms", none, slices.Max(cold))
		s.add(p.name, "later start, p50", "ms", less, median(warm))
	}
	return nil
}

func (s *session) startTwice(ctx context.Context, p program) (cold, warm time.Duration, err error) {
	server, err := s.start(ctx, p)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	warm, err = server.restart(ctx)
	return server.firstStart, warm, err
}
