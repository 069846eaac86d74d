package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/lib/pq"

	"github.com/annals-kb/annals/database"
)

// meter reads how much CPU time somebody has used so far.
type meter func() time.Duration

// processTime is the CPU time of one process. Where there is no /proc it stays 0, and reports leave it out.
func processTime(pid int) time.Duration {
	p, err := readProcess(pid)
	if err != nil {
		return 0
	}
	return p.own
}

// process is what /proc/PID/stat says, of which proc(5) has the list.
type process struct {
	parent   int
	own      time.Duration
	children time.Duration // of those that have ended
}

const tick = time.Second / 100 // USER_HZ, which is 100 wherever Linux runs today

func readProcess(pid int) (p process, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return p, err
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:])) // from the third on
	number := func(place int) int {
		n, wrong := strconv.Atoi(fields[place-3])
		err = errors.Join(err, wrong)
		return n
	}
	p.parent = number(4)
	p.own = time.Duration(number(14)+number(15)) * tick
	p.children = time.Duration(number(16)+number(17)) * tick
	return p, err
}

// clusterOf is the work of the database, where that is another process on this machine.
func clusterOf(ctx context.Context, engine database.Engine, address string) (meter, error) {
	if engine == database.SQLite {
		return func() time.Duration { return 0 }, nil
	}
	pool, err := connect(address)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	var backend int
	if err := pool.QueryRowContext(ctx, "SELECT pg_backend_pid()").Scan(&backend); err != nil {
		return nil, err
	}
	p, err := readProcess(backend)
	if err != nil { // elsewhere, or no Linux
		return func() time.Duration { return 0 }, nil
	}
	return func() time.Duration {
		time.Sleep(200 * time.Millisecond) // for what is ending to have ended: its time counts then
		return familyTime(p.parent)
	}, nil
}

func execute(ctx context.Context, address, statement string) error {
	pool, err := connect(address)
	if err != nil {
		return err
	}
	_, err = pool.ExecContext(ctx, statement)
	return errors.Join(err, pool.Close())
}

func connect(address string) (*sql.DB, error) {
	connector, err := pq.NewConnector(address)
	if err != nil {
		return nil, errors.New("the address of the database does not parse") // err would repeat the password
	}
	return sql.OpenDB(connector), nil
}

func familyTime(parent int) time.Duration {
	p, err := readProcess(parent)
	if err != nil {
		return 0
	}
	all := p.own + p.children
	directories, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well-formed
	for _, directory := range directories {
		pid, err := strconv.Atoi(filepath.Base(directory))
		if err != nil {
			continue
		}
		if child, err := readProcess(pid); err == nil && child.parent == parent {
			all += child.own
		}
	}
	return all
}
