package database

import (
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

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
