package database

import (
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// giveUpOnSilence bounds how long sent bytes may stay unacknowledged. Keep-alive probes do not
// run while there are such bytes, and the kernel alone would go on trying for a quarter of an hour.
func giveUpOnSilence(network, _ string, raw syscall.RawConn) error {
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
