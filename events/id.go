package events

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
)

// ids generates the ids of a tenant's events: UUIDv7 that ascend along the log. Consecutive events of one command
// have ids that differ by 1; ids of different commands never do. A repeated request finds the events of the first one
// by this.
//
// It is method 2 of RFC 9562, section 6.2. Within a millisecond, an id adds 1 to the one before it inside a command,
// and a random number between commands.
type ids struct{ last uuid.UUID }

// next is the id of an event recorded at the given time, the first of its command or a further one.
func (g *ids) next(at time.Time, first bool) uuid.UUID {
	if !first {
		g.last = plus(g.last, 1)
		return g.last
	}
	fresh := uuid.UUID{}
	binary.BigEndian.PutUint64(fresh[:], uint64(at.UnixMilli())<<16|rand.Uint64N(1<<12))
	binary.BigEndian.PutUint64(fresh[8:], rand.Uint64N(1<<61)) // the top bit is a reserve for counting
	fresh[6] |= 0x70
	fresh[8] |= 0x80
	if bytes.Compare(fresh[:], g.last[:]) > 0 {
		g.last = fresh
	} else {
		g.last = plus(g.last, 2+rand.Uint64N(1<<32))
	}
	return g.last
}

// follows tells whether b is the id of the next event of the same command after a.
func follows(a, b string) bool {
	first, err := uuid.Parse(a)
	if err != nil {
		return false
	}
	second, err := uuid.Parse(b)
	return err == nil && plus(first, 1) == second
}

// plus adds to the last 62 bits, which are random. It carries into the 12 bits before them, then into the time.
func plus(id uuid.UUID, n uint64) uuid.UUID {
	const low = 1<<62 - 1
	high := binary.BigEndian.Uint64(id[:])
	tail := binary.BigEndian.Uint64(id[8:])&low + n
	if tail > low {
		random := high&0xfff + 1
		high = (high>>16+random>>12)<<16 | 0x7000 | random&0xfff
	}
	binary.BigEndian.PutUint64(id[:], high)
	binary.BigEndian.PutUint64(id[8:], 1<<63|tail&low)
	return id
}
