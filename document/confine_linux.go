package document

import "syscall"

// confine lets this process have so much memory and no more.
func confine(bytes uint64) {
	_ = syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: bytes, Max: bytes}) // its time is limited in any case
}
