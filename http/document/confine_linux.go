package document

import "syscall"

// confine limits the memory of this process.
func confine(bytes uint64) {
	_ = syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: bytes, Max: bytes}) // its time is limited in any case
}
