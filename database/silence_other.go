//go:build !linux

package database

import "syscall"

func giveUpOnSilence(string, string, syscall.RawConn) error { return nil }
