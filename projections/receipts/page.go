package receipts

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/annals-kb/annals/domain"
)

// A page holds the receipts of a run to one tenant, in the order of their numbers. Its data is the byte 01, and then
// as one zstd frame:
//
//	how many strings there are, and for each its length and its bytes
//	how many circumstances there are, and for each its status, and the indexes of its other fields among the strings
//	how many receipts there are, and for each:
//	    its number, its time in microseconds, the index of its circumstances
//	    its position, the position that was asked about
//	    01 and the digest of the question, or 00
//	    the digest of the answer
//	    how many items there are, and for each: its number, its version, the score in 2 bytes, little-endian, the
//	    four parts in a byte each, a byte with band, level and cut, the index of its scope among the strings, and
//	    the beginning of the digest of its stream
//
// Numbers are varints. Numbers, times and positions are differences from those before.

// version is the first byte of a page's data.
const version = 1

// errPage says that a page cannot be read.
var errPage = errors.New("the page of receipts is damaged")

// zstdCoder compresses and expands. Both are safe for concurrent use.
type zstdCoder struct {
	encoder *zstd.Encoder
	decoder *zstd.Decoder
}

// mostExpanded limits the bytes of a page.
const mostExpanded = 256 << 20

var compressor = sync.OnceValue(func() zstdCoder {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		panic(err) // these options are valid
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(mostExpanded))
	if err != nil {
		panic(err)
	}
	return zstdCoder{encoder, decoder}
})

func compressed(plain []byte) []byte { return compressor().encoder.EncodeAll(plain, []byte{version}) }

func expanded(data []byte) ([]byte, error) {
	if len(data) == 0 || data[0] != version {
		return nil, fmt.Errorf("%w: its version is not %d", errPage, version)
	}
	plain, err := compressor().decoder.DecodeAll(data[1:], nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errPage, err)
	}
	return plain, nil
}

// dictionary numbers values in the order in which they come.
type dictionary[T comparable] struct {
	indexes map[T]uint64
	all     []T
}

func (d *dictionary[T]) of(value T) uint64 {
	i, known := d.indexes[value]
	if !known {
		if d.indexes == nil {
			d.indexes = map[T]uint64{}
		}
		i = uint64(len(d.all))
		d.indexes[value], d.all = i, append(d.all, value)
	}
	return i
}

// strings are the texts of circumstances, in the order in which a page has them.
func (c *Circumstances) strings() []string {
	return []string{
		string(c.Kind), string(c.Caller), string(c.OnBehalfOf), c.Authentication, c.Host, c.Session, c.Trace, c.Route,
		c.Embedder, c.Ranking,
	}
}

func circumstancesOf(status int, s []string) Circumstances {
	return Circumstances{
		Kind: domain.GivenKind(s[0]), Status: status, Caller: domain.Entity(s[1]), OnBehalfOf: domain.Entity(s[2]),
		Authentication: s[3], Host: s[4], Session: s[5], Trace: s[6], Route: s[7], Embedder: s[8], Ranking: s[9],
	}
}

// The bits of the byte with band, level and cut.
const (
	bandSure    = 1
	bandPerhaps = 2
	levelShift  = 2
	cutBit      = 1 << 4
)

// encode is the data of a page.
func encode(all []*Receipt) []byte {
	var words dictionary[string]
	var circumstances dictionary[Circumstances]
	var body []byte
	last := &Receipt{At: time.UnixMicro(0)}
	for _, r := range all {
		body = binary.AppendUvarint(body, uint64(r.Sequence-last.Sequence))
		body = binary.AppendVarint(body, r.At.UnixMicro()-last.At.UnixMicro())
		body = binary.AppendUvarint(body, circumstances.of(r.Circumstances))
		body = binary.AppendVarint(body, r.Position-last.Position)
		body = binary.AppendUvarint(body, uint64(r.AsOf))
		if r.Question.Digest != (Digest{}) {
			body = append(append(body, 1), r.Question.Digest[:]...)
		} else {
			body = append(body, 0)
		}
		body = append(body, r.Answer[:]...)
		body = binary.AppendUvarint(body, uint64(len(r.Items)))
		number := int64(0)
		for _, item := range r.Items {
			body = item.append(body, number, words.of(string(item.Scope)))
			number = item.Number
		}
		last = r
	}
	var head []byte
	for _, c := range circumstances.all {
		head = binary.AppendUvarint(head, uint64(c.Status))
		for _, word := range c.strings() {
			head = binary.AppendUvarint(head, words.of(word))
		}
	}
	plain := binary.AppendUvarint(nil, uint64(len(words.all)))
	for _, word := range words.all {
		plain = append(binary.AppendUvarint(plain, uint64(len(word))), word...)
	}
	plain = append(binary.AppendUvarint(plain, uint64(len(circumstances.all))), head...)
	plain = append(binary.AppendUvarint(plain, uint64(len(all))), body...)
	return compressed(plain)
}

func (i *Item) append(body []byte, before int64, scope uint64) []byte {
	body = binary.AppendVarint(body, i.Number-before)
	body = binary.AppendUvarint(body, uint64(i.Version))
	body = binary.LittleEndian.AppendUint16(body, uint16(stepsOf(i.Score, scoreSteps)))
	for _, part := range []float64{i.Semantic, i.Model, i.Lexical, i.Confidence} {
		body = append(body, byte(stepsOf(part, partSteps)))
	}
	bits := byte(i.Level) << levelShift
	switch i.Band {
	case domain.Sure:
		bits |= bandSure
	case domain.Perhaps:
		bits |= bandPerhaps
	}
	if i.Cut {
		bits |= cutBit
	}
	body = binary.AppendUvarint(append(body, bits), scope)
	return append(body, i.History[:]...)
}

// input reads what encode wrote. After an error it reads zeros.
type input struct {
	left []byte
	err  error
}

func (in *input) bytes(n uint64) []byte {
	if n > uint64(len(in.left)) {
		in.err, in.left = errPage, nil
		return make([]byte, min(n, digestSize))
	}
	taken := in.left[:n]
	in.left = in.left[n:]
	return taken
}

func (in *input) uvarint() uint64 {
	value, n := binary.Uvarint(in.left)
	if n <= 0 {
		in.err, in.left = errPage, nil
		return 0
	}
	in.left = in.left[n:]
	return value
}

func (in *input) varint() int64 {
	value, n := binary.Varint(in.left)
	if n <= 0 {
		in.err, in.left = errPage, nil
		return 0
	}
	in.left = in.left[n:]
	return value
}

// count reads how many elements follow, of which each has at least a byte.
func (in *input) count() int {
	n := in.uvarint()
	if n > uint64(len(in.left)) {
		in.err, in.left = errPage, nil
		return 0
	}
	return int(n)
}

// decode reads the data of a page, without the tenant and the run.
func decode(data []byte) ([]*Receipt, error) {
	plain, err := expanded(data)
	if err != nil {
		return nil, err
	}
	in := &input{left: plain}
	words := make([]string, in.count())
	for i := range words {
		words[i] = string(in.bytes(uint64(in.count())))
	}
	word := func() string {
		if i := in.uvarint(); i < uint64(len(words)) {
			return words[i]
		}
		in.err = errPage
		return ""
	}
	circumstances := make([]Circumstances, in.count())
	for i := range circumstances {
		status, fields := int(in.uvarint()), make([]string, len((&Circumstances{}).strings()))
		for i := range fields {
			fields[i] = word()
		}
		circumstances[i] = circumstancesOf(status, fields)
	}
	all := make([]*Receipt, in.count())
	last := &Receipt{At: time.UnixMicro(0)}
	for i := range all {
		r := &Receipt{Sequence: last.Sequence + int64(in.uvarint())}
		r.At = time.UnixMicro(last.At.UnixMicro() + in.varint()).UTC()
		if of := in.uvarint(); of < uint64(len(circumstances)) {
			r.Circumstances = circumstances[of]
		} else {
			in.err = errPage
		}
		r.Position, r.AsOf = last.Position+in.varint(), int64(in.uvarint())
		if in.bytes(1)[0] == 1 {
			copy(r.Question.Digest[:], in.bytes(digestSize))
		}
		copy(r.Answer[:], in.bytes(digestSize))
		r.Items = make([]Item, in.count())
		number := int64(0)
		for i := range r.Items {
			r.Items[i] = in.item(number, word)
			number = r.Items[i].Number
		}
		all[i], last = r, r
		if in.err != nil {
			return nil, in.err
		}
	}
	if len(in.left) > 0 {
		in.err = errPage
	}
	return all, in.err
}

func (in *input) item(before int64, word func() string) (i Item) {
	i.Number, i.Version = before+in.varint(), int64(in.uvarint())
	i.Score = float64(binary.LittleEndian.Uint16(in.bytes(2))) / scoreSteps
	for _, part := range []*float64{&i.Semantic, &i.Model, &i.Lexical, &i.Confidence} {
		*part = float64(in.bytes(1)[0]) / partSteps
	}
	bits := in.bytes(1)[0]
	switch bits & (bandSure | bandPerhaps) {
	case bandSure:
		i.Band = domain.Sure
	case bandPerhaps:
		i.Band = domain.Perhaps
	}
	i.Level, i.Cut, i.Scope = domain.Level(bits>>levelShift&3), bits&cutBit != 0, domain.Scope(word())
	copy(i.History[:], in.bytes(historySize))
	return i
}
