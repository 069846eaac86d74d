package databasetest

import (
	"errors"
	"syscall"
)

// Pause is not possible on this system.
func (c *Child) Pause() error { return errors.ErrUnsupported }

// Continue is not possible on this system.
func (c *Child) Continue() error { return errors.ErrUnsupported }

func pause(int) error { return errors.ErrUnsupported }

func resume(int) error { return errors.ErrUnsupported }

func asUser(uint32, uint32) *syscall.SysProcAttr { return nil }
