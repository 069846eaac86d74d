//go:build !linux

package database

import (
	"os"
	"syscall"
)

// lockInode does nothing: only Linux has locks that do not disturb SQLite's own. So a file that is opened through a
// second mount point is not noticed.
func lockInode(*os.File) error { return nil }

func unlockInode(*os.File) error { return nil }

// setUserTimeout does nothing. Keep-alive probes notice a dead server, unless bytes are under way to it: then the
// system's own limit holds, about ten minutes.
func setUserTimeout(string, string, syscall.RawConn) error { return nil }

// isReadable is unknown on this system, so it is false: a connection that died unnoticed fails at its next statement.
func isReadable(syscall.RawConn) bool { return false }
