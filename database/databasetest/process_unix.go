//go:build unix

package databasetest

import "syscall"

// Pause stops the process with SIGSTOP until [Child.Continue].
func (c *Child) Pause() error { return c.process.Process.Signal(syscall.SIGSTOP) }

// Continue resumes a paused process.
func (c *Child) Continue() error { return c.process.Process.Signal(syscall.SIGCONT) }

func pause(pid int) error { return syscall.Kill(pid, syscall.SIGSTOP) }

func resume(pid int) error { return syscall.Kill(pid, syscall.SIGCONT) }

func asUser(uid, gid uint32) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid}}
}
