package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	_ "github.com/lib/pq"  // the driver "postgres"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

// program is a build of Annals.
type program struct{ name, path, profiles string }

// build builds the program as users do, and returns its path.
func build(ctx context.Context, dir string) (path string, err error) {
	path = filepath.Join(dir, "annals")
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", path, "./cmd/annals")
	command.Env, command.Stderr = append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
	return path, command.Run()
}

// server is a running server of a program.
type server struct {
	program  program
	command  *exec.Cmd
	log      *os.File
	data     string // its directory
	database string // its URL
	address  string // HOST:PORT
	client   *http.Client
	drop     func() error  // drops its database
	starting time.Duration // until the first answer of its process
}

// start starts a server on a new database, with these variables in an otherwise plain environment.
func (s *session) start(ctx context.Context, p program, environment ...string) (*server, error) {
	data, err := os.MkdirTemp(s.dir, "data-")
	if err != nil {
		return nil, err
	}
	database, drop, err := newDatabase(ctx, s.engine, data)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}
	one := &server{program: p, data: data, database: database, drop: drop, client: &http.Client{Transport: transport}}
	if err := one.serve(ctx, environment); err != nil {
		return nil, errors.Join(err, one.stop())
	}
	return one, nil
}

// withServer calls do with a server on a new database.
func (s *session) withServer(ctx context.Context, p program, do func(*server) error) error {
	one, err := s.start(ctx, p)
	if err != nil {
		return err
	}
	return errors.Join(do(one), one.stop())
}

// withServers starts a server for each program, prepares each, and calls do with all of them.
func (s *session) withServers(
	ctx context.Context, environment []string, prepare func(*server) error, do func([]*server) error,
) (err error) {
	var servers []*server
	defer func() {
		for _, one := range servers {
			err = errors.Join(err, one.stop())
		}
	}()
	for _, p := range s.programs {
		one, err := s.start(ctx, p, environment...)
		if err != nil {
			return err
		}
		servers = append(servers, one)
		if err := prepare(one); err != nil {
			return err
		}
	}
	return do(servers)
}

// serve starts the process and waits for its first answer. It encodes no sentences unless the environment says so.
func (s *server) serve(ctx context.Context, environment []string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // listens at once
	if err != nil {
		return err
	}
	s.address = listener.Addr().String()
	if err := listener.Close(); err != nil {
		return err
	}
	if s.log, err = os.Create(filepath.Join(s.data, "log")); err != nil {
		return err
	}
	settings := []string{"serve", "--listen", s.address, "--data", s.data, "--database", s.database}
	if s.program.profiles != "" {
		settings = append(settings, "--cpu-profile", filepath.Join(s.program.profiles, filepath.Base(s.data)+".pprof"))
	}
	s.command = exec.Command(s.program.path, settings...) //nolint:noctx // ended by endProcess
	s.command.Env = append([]string{"HOME=" + s.data, "ANNALS_EMBEDDING_MODEL=words"}, environment...)
	s.command.Stderr = s.log
	started := time.Now()
	if err := s.command.Start(); err != nil {
		return err
	}
	for time.Since(started) < 60*time.Second && ctx.Err() == nil {
		if err := s.get(ctx, "/v1/knowledge?limit=1", nil); err == nil {
			s.starting = time.Since(started)
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	log, _ := os.ReadFile(s.log.Name()) // without it the error still shows what happened
	return fmt.Errorf("%s does not answer: %s", s.program.name, log)
}

// caughtUp waits until the background projections have read the whole log and indexed all words.
func (s *server) caughtUp(ctx context.Context) error {
	for {
		var projections struct {
			Items []struct {
				Lag       int64  `json:"lag_events"`
				Unindexed int64  `json:"unindexed"`
				Error     string `json:"error"`
			} `json:"items"`
		}
		if err := s.get(ctx, "/v1/projections", &projections); err != nil {
			return err
		}
		left := int64(0)
		for _, p := range projections.Items {
			if left += p.Lag + p.Unindexed/1000; p.Error != "" {
				return errors.New(p.Error)
			}
		}
		if left == 0 {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// endProcess ends the process, but keeps its database.
func (s *server) endProcess() error {
	if s.command == nil || s.command.Process == nil || s.command.ProcessState != nil {
		return nil
	}
	return errors.Join(s.command.Process.Signal(syscall.SIGTERM), s.command.Wait(), s.log.Close())
}

// stop ends the process and removes its database.
func (s *server) stop() error { return errors.Join(s.endProcess(), s.drop(), os.RemoveAll(s.data)) }

// restart starts the process again on the same database.
func (s *server) restart(ctx context.Context, environment ...string) error {
	return errors.Join(s.endProcess(), s.serve(ctx, environment))
}

func (s *server) get(ctx context.Context, path string, answer any) error {
	return s.send(ctx, http.MethodGet, path, "", nil, answer)
}

func (s *server) post(ctx context.Context, path string, body, answer any, headers ...string) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return s.send(ctx, http.MethodPost, path, "application/json", bytes.NewReader(text), answer, headers...)
}

// send sends a request with these names and values of headers, and decodes the answer into answer unless that is nil.
// An error status is an error.
func (s *server) send(
	ctx context.Context, method, path, contentType string, body io.Reader, answer any, headers ...string,
) error {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+s.address+path, body)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", contentType)
	for header := range slices.Chunk(headers, 2) {
		request.Header.Set(header[0], header[1])
	}
	response, err := s.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s %s: %s: %.300s", method, path, response.Status, text)
	}
	if lines, is := answer.(*string); is {
		*lines = string(text)
	} else if err == nil && answer != nil {
		err = json.Unmarshal(text, answer)
	}
	return err
}

// search returns the ids of the hits.
func (s *server) search(ctx context.Context, body map[string]any) (found answer, err error) {
	var got struct {
		Items []struct {
			Knowledge struct {
				ID string `json:"id"`
			} `json:"knowledge"`
			Band string `json:"band"`
		} `json:"items"`
	}
	err = s.post(ctx, "/v1/search", body, &got)
	for _, hit := range got.Items {
		found.ids = append(found.ids, hit.Knowledge.ID)
		if hit.Band == "sure" {
			found.sure++
		}
	}
	return found, err
}

// answer are the ids that a search found, the sure ones first.
type answer struct {
	ids  []string
	sure int
}

// load remembers items, and waits until a search by meaning finds them.
func (s *session) load(ctx context.Context, server *server, when string, items []item) error {
	began := time.Now()
	rate := func() float64 { return float64(len(items)) / time.Since(began).Seconds() }
	for page := range slices.Chunk(items, 10_000) {
		var lines []byte
		for _, one := range page {
			lines = append(append(lines, one.body()...), '\n')
		}
		if err := server.importLines(ctx, lines); err != nil {
			return err
		}
	}
	s.add(server.program.name, when+"import", "items/s", rate())
	err := server.caughtUp(ctx)
	s.add(server.program.name, when+"import, until found by meaning", "items/s", rate())
	return err
}

// importLines remembers one item per line, and checks that each was created.
func (s *server) importLines(ctx context.Context, lines []byte) error {
	var answers string
	err := s.send(
		ctx, http.MethodPost, "/v1/knowledge", "application/x-ndjson", bytes.NewReader(lines), &answers,
	)
	count, created := bytes.Count(lines, []byte("\n")), strings.Count(answers, `"status":"created"`)
	if err == nil && created != count {
		err = fmt.Errorf("%d of %d items were created: %.300s", created, count, answers)
	}
	return err
}

// memory is the resident memory of the server's process in MB; disk is what its database takes, in MB.
func (s *server) memory() float64 {
	var kilobytes float64 // 0 where there is no /proc
	_, _ = fmt.Sscan(procField(fmt.Sprintf("/proc/%d/status", s.command.Process.Pid), "VmRSS"), &kilobytes)
	return kilobytes / 1024
}

func (s *server) disk(ctx context.Context) (megabytes float64, err error) {
	size := "SELECT pg_database_size(current_database()) / 1e6"
	if strings.HasPrefix(s.database, "sqlite:") {
		size = "SELECT page_count * page_size / 1e6 FROM pragma_page_count, pragma_page_size"
	}
	err = withPool(s.database, func(pool *sql.DB) error {
		return pool.QueryRowContext(ctx, size).Scan(&megabytes)
	})
	return megabytes, err
}

// newDatabase creates an empty database, and returns its URL and a function that drops it.
func newDatabase(ctx context.Context, engine, dir string) (address string, drop func() error, err error) {
	if engine == "sqlite" {
		return "sqlite:" + filepath.Join(dir, "annals.db"), func() error { return nil }, nil
	}
	server, err := url.Parse(os.Getenv("ANNALS_TEST_POSTGRES"))
	if err != nil || server.Host == "" {
		return "", nil, errors.New(`ANNALS_TEST_POSTGRES names no server: run the benchmark by "scripts/postgres.sh run"`)
	}
	name := "annals_bench_" + strings.ToLower(rand.Text())
	execute := func(ctx context.Context, statement string) error {
		return withPool(server.String(), func(pool *sql.DB) error {
			_, err := pool.ExecContext(ctx, statement)
			return err
		})
	}
	if err := execute(ctx, "CREATE DATABASE "+name); err != nil {
		return "", nil, err
	}
	own := *server
	own.Path = "/" + name
	drop = func() error { return execute(context.WithoutCancel(ctx), "DROP DATABASE "+name+" WITH (FORCE)") }
	return own.String(), drop, nil
}

// withPool opens a database with its plain driver.
func withPool(address string, do func(*sql.DB) error) error {
	driver, name := "postgres", address
	if path, isSQLite := strings.CutPrefix(address, "sqlite:"); isSQLite {
		driver = "sqlite"
		name = "file:" + path + "?_txlock=immediate&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)" +
			"&_pragma=cache_size(-16000)&_pragma=busy_timeout(5000)"
	}
	pool, err := sql.Open(driver, name)
	if err != nil {
		return errors.New("the URL of the database does not parse") // err would repeat the password
	}
	if driver == "sqlite" {
		pool.SetMaxOpenConns(1)
	}
	return errors.Join(do(pool), pool.Close())
}
