package database

import (
	"errors"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// inodeLock is the range of the database file that its owner locks. SQLite's own locks are elsewhere.
var inodeLock = unix.Flock_t{Type: unix.F_WRLCK, Start: 1 << 62, Len: 1}

// lockInode locks the open file, whatever its name. It succeeds on file systems without such locks.
func lockInode(file *os.File) error {
	lock := inodeLock
	err := unix.FcntlFlock(file.Fd(), unix.F_OFD_SETLK, &lock)
	switch {
	case errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES):
		return ownedError{path: file.Name()}
	case errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOLCK) || errors.Is(err, unix.ENOSYS):
		return nil
	}
	return err
}

func unlockInode(file *os.File) error {
	lock := inodeLock
	lock.Type = unix.F_UNLCK
	_ = unix.FcntlFlock(file.Fd(), unix.F_OFD_SETLK, &lock) // fails where lockInode did nothing
	return nil
}

// setUserTimeout limits how long sent bytes may stay unacknowledged. Keep-alive probes do not run while there are
// such bytes, and the kernel alone would retry for a quarter of an hour.
func setUserTimeout(network, _ string, raw syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	var err error
	if controlErr := raw.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(silence.Milliseconds()))
	}); controlErr != nil {
		return controlErr
	}
	return err
}

// isReadable tells whether there is something to read, including the end of the stream.
func isReadable(raw syscall.RawConn) bool {
	var err error
	if controlErr := raw.Control(func(fd uintptr) {
		_, _, err = unix.Recvfrom(int(fd), make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
	}); controlErr != nil {
		return true
	}
	return err != unix.EAGAIN //nolint:errorlint // the kernel's own
}
