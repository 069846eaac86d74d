package database

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
)

// owner is a process's lock on a SQLite file: on a file beside it, and on the file itself. The kernel releases both
// when the process ends. The text in the lock file is for people; it may be stale while no process holds the lock.
type owner struct {
	file  *os.File
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
	file, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the database cannot be claimed, name another file with sqlite:PATH: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ownedError{path: path, owner: readNote(file)}
	} else if err != nil {
		err = fmt.Errorf("lock %s: %w", file.Name(), err)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	inode, opened, err := claimInode(path)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	host, _ := os.Hostname()
	o := &owner{
		file: file, inode: inode, path: path, opened: opened,
		note: ownerNote{PID: os.Getpid(), Host: host, Since: now.UTC().Truncate(time.Second)},
	}
	if err := o.write(); err != nil {
		return nil, errors.Join(err, o.release())
	}
	return o, nil
}

// inodeLock is the range of the database file that its owner locks. SQLite's own locks are elsewhere.
var inodeLock = syscall.Flock_t{Type: syscall.F_WRLCK, Start: 1 << 62, Len: 1}

// claimInode locks the file itself, since SQLite names its write-ahead log after the path by which it opens a file:
// under two names, two logs overwrite each other. The link count reveals a hard link. A lock, which needs Linux,
// reveals a bind mount.
func claimInode(path string) (*os.File, os.FileInfo, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("look at the database: %w", err)
	}
	opened, err := file.Stat()
	if err == nil {
		if stat, ok := opened.Sys().(*syscall.Stat_t); ok && stat.Nlink > 1 {
			err = fmt.Errorf(
				"%s has another name (a hard link), and writes through one are lost to the other: "+
					"delete the one that you do not use",
				path,
			)
		} else {
			err = lockInode(file, inodeLock)
		}
	}
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) {
		err = ownedError{path: path}
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, opened, nil
}

// lockInode sets or removes a lock that belongs to the open file, not to the process. It succeeds on file systems
// without such locks.
func lockInode(file *os.File, lock syscall.Flock_t) error {
	if runtime.GOOS != "linux" {
		return nil
	}
	const setLock = 0x25 // F_OFD_SETLK of Linux, which package syscall does not name
	err := syscall.FcntlFlock(file.Fd(), setLock, &lock)
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOLCK) || errors.Is(err, syscall.ENOSYS) {
		return nil
	}
	return err
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
	if err := o.file.Truncate(0); err != nil {
		return fmt.Errorf("write owner: %w", err)
	}
	if _, err := o.file.WriteAt(append(note, '\n'), 0); err != nil {
		return fmt.Errorf("write owner: %w", err)
	}
	return nil
}

// release keeps the lock file: removing it would race with the next process. Closing the file does not release the
// lock, since a child process that is just starting also has it open.
func (o *owner) release() error {
	unlock := inodeLock
	unlock.Type = syscall.F_UNLCK
	return errors.Join(
		lockInode(o.inode, unlock), o.inode.Close(), syscall.Flock(int(o.file.Fd()), syscall.LOCK_UN), o.file.Close(),
	)
}

// readNote returns the zero note while the owner is writing it.
func readNote(file *os.File) ownerNote {
	var note ownerNote
	_ = json.NewDecoder(file).Decode(&note)
	return note
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
