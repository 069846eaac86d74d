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

// owner is a process's claim to a SQLite file: the lock on a file beside it, and on the file itself, which the kernel
// gives up when the process ends, however it ends. What the lock file says is for people; it may be stale
// while no process holds the lock.
type owner struct {
	file  *os.File
	inode *os.File // the database file, which may have another name elsewhere
	note  ownerNote

	path   string
	opened os.FileInfo // the database file as it was found there
}

type ownerNote struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
	API   string    `json:"api,omitempty"`
}

// claim makes this process the owner of the database at path. The error matches [ErrOwned] if
// there is another, and names it.
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

// inodeLock is the range of the database file that its owner locks. SQLite's own locks are far from it.
var inodeLock = syscall.Flock_t{Type: syscall.F_WRLCK, Start: 1 << 62, Len: 1}

// claimInode claims the file itself, since SQLite keeps its write-ahead log beside the name by which it opens a file:
// under two names, two logs overwrite each other. A hard link is refused by the count of links, and a bind mount by
// a lock, which needs Linux.
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

// lockInode sets a lock that belongs to the open file, not to the process, or removes it. A file system that knows no
// such lock is not asked for more.
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

// inPlace tells whether the file that was opened is still where it was. What is written to one that was
// deleted or replaced is gone when the process ends. The error matches [ErrUnavailable]: the file may be put
// back. On PostgreSQL, where there is no owner, there is none.
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

// release leaves the lock file where it is: removing it would race with the process that opens it next.
// Closing it would not do: a process that is just being started has it, too, until it is a program of its
// own.
func (o *owner) release() error {
	unlock := inodeLock
	unlock.Type = syscall.F_UNLCK
	return errors.Join(
		lockInode(o.inode, unlock), o.inode.Close(), syscall.Flock(int(o.file.Fd()), syscall.LOCK_UN), o.file.Close(),
	)
}

// readNote returns the zero note if the owner is just writing it.
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
