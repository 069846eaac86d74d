package body

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// ErrUnreadable says that a file has no readable text: it is damaged, encrypted, or made of images.
var ErrUnreadable = errors.New("unreadable")

// ErrTooMuch says that reading a file would take too much time or memory, or give too much text.
var ErrTooMuch = errors.New("too much to read")

// Text is the content of a text file, with lines ended by \n. The encoding may be UTF-8, UTF-16, or Windows' Latin-1.
// The error is ErrUnreadable for binary files and other encodings.
func Text(content []byte) (string, error) {
	switch order := orderOf(content); {
	case order != nil:
		content = fromUTF16(content, order)
	case utf8.Valid(content):
	case isLatin(content):
		content, _ = charmap.Windows1252.NewDecoder().Bytes(content) // isLatin has checked every byte
	}
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(string(content), "\ufeff"))
	control := func(r rune) bool { return r < '\a' || r > '\r' && r < ' ' && r != '\x1b' }
	if !utf8.ValidString(text) || strings.ContainsFunc(text, control) {
		return "", ErrUnreadable
	}
	return text, nil
}

// orderOf is the byte order of UTF-16, by its mark or by the positions of zeros; nil for other encodings.
func orderOf(content []byte) binary.ByteOrder {
	switch {
	case len(content)%2 != 0 || len(content) == 0:
		return nil
	case bytes.HasPrefix(content, []byte{0xff, 0xfe}):
		return binary.LittleEndian
	case bytes.HasPrefix(content, []byte{0xfe, 0xff}):
		return binary.BigEndian
	}
	zeros := [2]int{}
	for i, b := range content {
		if b == 0 {
			zeros[i%2]++
		}
	}
	const share = 4 // of ten characters, at least so many are ASCII
	enough := len(content) / 2 * share / 10
	switch {
	case zeros[0] == 0 && zeros[1] > enough:
		return binary.LittleEndian
	case zeros[1] == 0 && zeros[0] > enough:
		return binary.BigEndian
	}
	return nil
}

func fromUTF16(content []byte, order binary.ByteOrder) []byte {
	units := make([]uint16, 0, len(content)/2)
	for pair := range slices.Chunk(content, 2) {
		units = append(units, order.Uint16(pair))
	}
	return []byte(string(utf16.Decode(units)))
}

// isLatin tells whether bytes look like Latin-1: the bytes other than ASCII are few, and are letters, signs or
// Windows' quotation marks. In multi-byte encodings of Chinese, Japanese and Korean, such bytes are adjacent.
func isLatin(content []byte) bool {
	const longest, short = 3, 32 // accented letters in a row, and bytes of a text that may have many of them
	high, row := 0, 0
	for _, b := range content {
		switch {
		case b < utf8.RuneSelf:
			row = 0
		case slices.Contains([]byte{0x81, 0x8d, 0x8f, 0x90, 0x9d}, b), row == longest:
			return false
		default:
			high, row = high+1, row+1
		}
	}
	return high*4 < len(content) || len(content) <= 2*longest || high*2 <= len(content) && len(content) <= short
}
