package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// program is what is measured.
type program struct {
	path    string
	profile string // the file to which a server writes what the processor is busy with, if one is named
}

// build gives the path of a program that is built as everybody does.
func build(ctx context.Context, dir string) (path string, err error) {
	path = filepath.Join(dir, "annals")
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", path, "./cmd/annals")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, said)
	}
	return path, nil
}

// server is the program, serving.
type server struct {
	command  *exec.Cmd
	log      *os.File
	address  string // HOST:PORT
	database string // its URL
	started  time.Time
}

// start starts a server with a directory of its own. It answers when it is ready: see [server.ready].
func (p program) start(database, data string) (*server, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	s := &server{address: address, database: database}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, err
	}
	if s.log, err = os.Create(filepath.Join(data, "log")); err != nil {
		return nil, err
	}
	s.command = exec.Command(p.path, "serve", "--listen", address, "--data", data, "--database", database) //nolint:noctx // ended by stop
	if p.profile != "" {
		s.command.Args = append(s.command.Args, "--cpu-profile", p.profile)
	}
	s.command.Env, s.command.Stderr = plainEnvironment(), s.log
	s.started = time.Now()
	if err := s.command.Start(); err != nil {
		return nil, errors.Join(err, s.log.Close())
	}
	return s, nil
}

// plainEnvironment is this program's without what would configure a server.
func plainEnvironment() []string {
	var plain []string
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, "ANNALS_") && !strings.HasSuffix(name, "_API_KEY") && name != "DATABASE_URL" {
			plain = append(plain, variable)
		}
	}
	return plain
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // listens at once
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// ready waits for the first answer to a question, and tells how long it took from the start.
func (s *server) ready(ctx context.Context) (time.Duration, error) {
	const patience = 20 * time.Second
	for time.Since(s.started) < patience && ctx.Err() == nil {
		if err := s.ask("/v1/knowledge?limit=1", nil); err == nil {
			return time.Since(s.started), nil
		}
		time.Sleep(time.Millisecond)
	}
	said, _ := os.ReadFile(s.log.Name()) // without it the error still says what happened
	return 0, fmt.Errorf("the server did not answer within %s: %s", patience, said)
}

// ask gets a path on a connection of its own.
func (s *server) ask(path string, answer any) error {
	connection, err := net.Dial("tcp", s.address) //nolint:noctx // has a deadline
	if err != nil {
		return err
	}
	defer connection.Close()
	_ = connection.SetDeadline(time.Now().Add(10 * time.Second)) // a TCP connection has deadlines
	if _, err := fmt.Fprintf(connection, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", path, s.address); err != nil {
		return err
	}
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", path, response.Status)
	}
	if answer == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(answer)
}

// rest waits until the projections in the background have read everything, so that their work does not
// fall into somebody else's time. It tells how long that took.
func (s *server) rest(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	for ctx.Err() == nil {
		var projections struct {
			Items []struct {
				Lag int64 `json:"lag_events"`
			} `json:"items"`
		}
		if err := s.ask("/v1/projections", &projections); err != nil {
			return 0, err
		}
		lag := int64(0)
		for _, p := range projections.Items {
			lag += p.Lag
		}
		if lag == 0 {
			return time.Since(began), nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return 0, ctx.Err()
}

// stop ends the server and waits for that. It may be called again.
func (s *server) stop() error {
	if s.command.ProcessState != nil {
		return nil
	}
	err := s.command.Process.Signal(syscall.SIGTERM)
	return errors.Join(err, s.command.Wait(), s.log.Close())
}
