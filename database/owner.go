package database

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// owner is a process's lock on a SQLite file: on a file beside it, and on the file itself. The kernel releases both
// when the process ends. The text in the lock file is for people; it may be stale while no process holds the lock.
type owner struct {
	lock  *flock.Flock
	inode *os.File // the database file, which may have other names
	note  ownerNote

	path   string
	opened os.FileInfo // the database file as it was opened
}

type ownerNote struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
	API   string    `json:"api,omitempty"`
}

// claim makes this process the owner of the database at path. The error matches [ErrOwned] if another process owns
// it, and names that process.
func claim(path string, now time.Time) (*owner, error) {
	lock := flock.New(path + ".lock")
	locked, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("the database cannot be claimed, name another file with sqlite:PATH: %w", err)
	}
	if !locked {
		return nil, ownedError{path: path, owner: readNote(lock.Path())}
	}
	inode, opened, err := claimInode(path)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	host, _ := os.Hostname()
	o := &owner{
		lock: lock, inode: inode, path: path, opened: opened,
		note: ownerNote{PID: os.Getpid(), Host: host, Since: now.UTC().Truncate(time.Second)},
	}
	if err := o.write(); err != nil {
		return nil, errors.Join(err, o.release())
	}
	return o, nil
}

// claimInode opens the file itself and, where the system can, locks it, since SQLite names its write-ahead log after
// the path by which it opens a file: under two names, two logs overwrite each other. The link count reveals a hard
// link, the lock a bind mount.
func claimInode(path string) (*os.File, os.FileInfo, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("look at the database: %w", err)
	}
	opened, err := file.Stat()
	if err == nil && linksTo(file) > 1 {
		err = fmt.Errorf(
			"%s has another name (a hard link), and writes through one are lost to the other: "+
				"delete the one that you do not use",
			path,
		)
	} else if err == nil {
		err = lockInode(file)
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, opened, nil
}

// inPlace checks that the opened file is still at its path. Writes to a file that was deleted or replaced are lost
// when the process ends. The error matches [ErrUnavailable], since the file may be put back. On PostgreSQL, without
// an owner, it returns nil.
func (o *owner) inPlace() error {
	if o == nil {
		return nil
	}
	found, err := os.Stat(o.path)
	if err == nil && os.SameFile(found, o.opened) {
		return nil
	}
	return fmt.Errorf("%w: %s is not the file that was opened any more: put that one back, or stop this process "+
		"and restore a backup", ErrUnavailable, o.path)
}

func (o *owner) announce(api string) error {
	o.note.API = api
	return o.write()
}

func (o *owner) write() error {
	note, err := json.Marshal(o.note)
	if err != nil {
		return fmt.Errorf("describe owner: %w", err)
	}
	file, err := os.OpenFile(o.lock.Path(), os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("write owner: %w", err)
	}
	_, err = fmt.Fprintf(io.NewOffsetWriter(file, noteStart), "%-*s\n", noteWidth, note)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write owner: %w", err)
	}
	return nil
}

// The first byte of the lock file is left out, since Windows lets only the owner read it. Spaces cover an earlier note.
const (
	noteStart = 1
	noteWidth = 400
)

// release keeps the lock file: removing it would race with the next process. It unlocks both files, since a child
// process that is just starting also has them open.
func (o *owner) release() error {
	return errors.Join(unlockInode(o.inode), o.inode.Close(), o.lock.Close())
}

// readNote returns the zero note while the owner is writing it.
func readNote(path string) ownerNote {
	var note ownerNote
	if file, err := os.Open(path); err == nil {
		_ = json.NewDecoder(io.NewSectionReader(file, noteStart, math.MaxInt64-noteStart)).Decode(&note)
		_ = file.Close()
	}
	return note
}

// ServedAt is the address of the API of the process that owns the SQLite file at path; empty if there is none.
func ServedAt(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	lock := flock.New(path+".lock", flock.SetFlag(os.O_RDONLY))
	if free, err := lock.TryRLock(); free || err != nil {
		_ = lock.Close()
		return ""
	}
	return readNote(lock.Path()).API
}

// ownedError names the process that has the file. It matches [ErrOwned].
type ownedError struct {
	path  string
	owner ownerNote
}

func (e ownedError) Unwrap() error { return ErrOwned }

func (e ownedError) Error() string {
	who := "another annals"
	if e.owner.PID != 0 {
		who = fmt.Sprintf(
			"annals (pid %d on host %s since %s)", e.owner.PID, e.owner.Host, e.owner.Since.Format(time.RFC3339),
		)
	}
	instead := "its API"
	if e.owner.API != "" {
		instead += " at " + e.owner.API
	}
	return fmt.Sprintf("%s is in use by %s; stop it or use %s", e.path, who, instead)
}
