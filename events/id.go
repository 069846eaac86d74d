package events

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
)

// ids gives out the ids of a tenant's events: UUIDv7 that ascend along the log. The ids of one
// command's events follow one another by 1, and those of different commands never do; that is how
// a repeated request finds what the first one recorded.
//
// It is method 2 of RFC 9562, section 6.2: within a millisecond an id is the one before it and some
// more, by 1 inside a command and by a random number between commands.
type ids struct{ last uuid.UUID }

// next is the id of an event recorded at the given time, the first of its command or a further one.
func (g *ids) next(at time.Time, first bool) uuid.UUID {
	if !first {
		g.last = plus(g.last, 1)
		return g.last
	}
	fresh := uuid.UUID{}
	binary.BigEndian.PutUint64(fresh[:], uint64(at.UnixMilli())<<16|rand.Uint64N(1<<12))
	binary.BigEndian.PutUint64(fresh[8:], rand.Uint64N(1<<61)) // the top bit is left for counting
	fresh[6] |= 0x70
	fresh[8] |= 0x80
	if bytes.Compare(fresh[:], g.last[:]) > 0 {
		g.last = fresh
	} else {
		g.last = plus(g.last, 2+rand.Uint64N(1<<32))
	}
	return g.last
}

// follows tells whether b is the id of the event that came right after a's from the same command.
func follows(a, b string) bool {
	first, err := uuid.Parse(a)
	if err != nil {
		return false
	}
	second, err := uuid.Parse(b)
	return err == nil && plus(first, 1) == second
}

// plus counts in the 62 random bits at the end and carries into the 12 before them, then into the time.
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
