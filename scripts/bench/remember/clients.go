package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// outcome is what clients got done in a run, and how long each thing took.
type outcome struct {
	took  time.Duration
	cpu   time.Duration // used by what did it
	times []time.Duration
}

func (o outcome) rate() float64 { return float64(len(o.times)) / o.took.Seconds() }

// keepDoing lets so many clients do something again and again until the time is over. The first error ends it.
func keepDoing(ctx context.Context, clients int, length time.Duration, client func() (do func(i int64) error, end func() error, err error)) (outcome, error) {
	var o outcome
	var failure error
	var mu sync.Mutex
	var running sync.WaitGroup
	var next atomic.Int64
	var broken atomic.Bool
	did := func(times []time.Duration, err error) {
		mu.Lock()
		defer mu.Unlock()
		o.times = append(o.times, times...)
		if err != nil && failure == nil {
			failure = err
			broken.Store(true)
		}
	}
	began := time.Now()
	for range clients {
		running.Go(func() {
			do, end, err := client()
			if err != nil {
				did(nil, err)
				return
			}
			var times []time.Duration
			for err == nil && time.Since(began) < length && ctx.Err() == nil && !broken.Load() {
				asked := time.Now()
				if err = do(next.Add(1)); err == nil {
					times = append(times, time.Since(asked))
				}
			}
			if ended := end(); err == nil {
				err = ended
			}
			did(times, err)
		})
	}
	running.Wait()
	o.took = time.Since(began)
	if failure == nil {
		failure = ctx.Err()
	}
	return o, failure
}

// remember sends the bodies with so many clients, each on one connection. The clients are as cheap as clients can be,
// since they share the machine with what is measured.
func (s *server) remember(ctx context.Context, bodies [][]byte, clients int, length time.Duration) (outcome, error) {
	return keepDoing(ctx, clients, length, func() (func(int64) error, func() error, error) {
		connection, err := net.Dial("tcp", s.address) //nolint:noctx // loopback: at once or never
		if err != nil {
			return nil, nil, err
		}
		answers := bufio.NewReader(connection)
		var request bytes.Buffer
		return func(i int64) error {
			body := bodies[i%int64(len(bodies))]
			request.Reset()
			fmt.Fprintf(&request, "POST /v1/knowledge HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", s.address, len(body))
			request.Write(body)
			if _, err := connection.Write(request.Bytes()); err != nil {
				return err
			}
			answer, err := http.ReadResponse(answers, nil)
			if err != nil {
				return err
			}
			said, err := io.ReadAll(answer.Body)
			err = errors.Join(err, answer.Body.Close())
			if err == nil && answer.StatusCode != http.StatusCreated {
				err = fmt.Errorf("remember: %s: %s", answer.Status, said)
			}
			return err
		}, connection.Close, nil
	})
}
