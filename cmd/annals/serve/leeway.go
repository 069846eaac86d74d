package serve

import "os"

// leeway is memory that is reserved and never touched, so that it takes none. The collector runs when as much garbage
// has come together as there is memory in use, which is little in a small server: under load it would run many times a
// second, for an eighth of the processor's time.
type leeway []byte

const usualLeeway = 128 << 20

// newLeeway reserves it, unless the operator has a say in when the collector runs.
func newLeeway() leeway {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	return make(leeway, usualLeeway)
}
