//go:build unix

package database

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// freeAt is the number of bytes that unprivileged users may still write beside the file.
func freeAt(file string) (*int64, error) {
	var disk unix.Statfs_t
	if err := unix.Statfs(file, &disk); err != nil {
		return nil, fmt.Errorf("ask how much disk is free: %w", err)
	}
	return new(int64(disk.Bavail) * int64(disk.Bsize)), nil
}

// linksTo is the number of names of an open file, 1 if unknown.
func linksTo(file *os.File) int {
	var found unix.Stat_t
	if unix.Fstat(int(file.Fd()), &found) != nil {
		return 1
	}
	return int(found.Nlink)
}
