//go:build linux || darwin

package database

import (
	"fmt"
	"syscall"
)

func freeAt(file string) (*int64, error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(file, &disk); err != nil {
		return nil, fmt.Errorf("ask how much disk is free: %w", err)
	}
	return new(int64(disk.Bavail) * int64(disk.Bsize)), nil
}
