package body

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// cut lists the records of a body, and errors in brackets.
func cut(split Splitter, body io.Reader, most int) []string {
	var all []string
	for r := range split(bufio.NewReaderSize(body, 16), most) {
		if r.Err != nil {
			all = append(all, "("+r.Err.Error()+")")
			continue
		}
		all = append(all, strings.TrimSpace(string(r.Data)))
	}
	return all
}

func TestLinesAreCutAtLineBreaks(t *testing.T) {
	t.Parallel()
	tooLong := "(an item may have at most 20 bytes)"
	for body, want := range map[string][]string{
		"":                         nil,
		"\n\r\n \n":                nil,
		"a\nb\r\n\nc":              {"a", "b", "c"},
		"{\"half\": \"a li":        {`{"half": "a li`},
		"a\n" + longLine + "\nb\n": {"a", tooLong, "b"},
		longLine:                   {tooLong},
		"12345678901234567890\n1":  {"12345678901234567890", "1"},
	} {
		if diff := cmp.Diff(cut(Lines, strings.NewReader(body), 20), want); diff != "" {
			t.Errorf("%.30q: %s", body, diff)
		}
	}
}

const longLine = "this line has more than twenty bytes, and more than the buffer"

func TestElementsAreCutAtCommas(t *testing.T) {
	t.Parallel()
	for body, want := range map[string][]string{
		`[]`:                               nil,
		` [ {"a": "],}\""} , [1,[2]],3 ] `: {`{"a": "],}\""}`, `[1,[2]]`, `3`},
		`[{"a":1},{"b":2}`:                 {`{"a":1}`, "(the array is not closed)"},
		`[{"a":1},{"b`:                     {`{"a":1}`, "(the array is not closed)"},
		`[1,,2]`:                           {"1", "(there is nothing between two commas)", "2"},
		`[1,]`:                             {"1", "(there is nothing between two commas)"},
		`[1] 2`:                            {"1", "(something follows the array)"},
		`["` + longLine + `", 2]`:          {"(an item may have at most 20 bytes)", "2"},
	} {
		if diff := cmp.Diff(cut(Elements, strings.NewReader(body), 20), want); diff != "" {
			t.Errorf("%q: %s", body, diff)
		}
	}
}

func TestABodyThatBreaksOffEndsWithAnError(t *testing.T) {
	t.Parallel()
	broken := io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(io.ErrUnexpectedEOF))
	want := []string{"a", "(unexpected EOF)"}
	if diff := cmp.Diff(cut(Lines, broken, 20), want); diff != "" {
		t.Error(diff)
	}
	broken = io.MultiReader(strings.NewReader("[1, 2"), iotest.ErrReader(errors.New("reset")))
	want = []string{"1", "(reset)"}
	if diff := cmp.Diff(cut(Elements, broken, 20), want); diff != "" {
		t.Error(diff)
	}
}

// FuzzElements holds the splitter against encoding/json: for every array, the same elements.
func FuzzElements(f *testing.F) {
	f.Add([]byte(`[{"a":"\\\"]"},[],"\u005d,",1.5e3,null]`))
	f.Add([]byte(`[[[]]]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		got := cut(Elements, bytes.NewReader(body), 1<<20) // whatever it is, it ends
		var want []json.RawMessage
		if json.Unmarshal(body, &want) != nil || want == nil {
			return
		}
		if len(got) != len(want) {
			t.Fatalf("cut %d elements, encoding/json finds %d", len(got), len(want))
		}
		for i := range want {
			if got[i] != string(want[i]) {
				t.Errorf("element %d is %q, encoding/json finds %q", i, got[i], want[i])
			}
		}
	})
}

// FuzzLines holds that cutting loses nothing.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\n\nb\r\nc"))
	f.Fuzz(func(t *testing.T, body []byte) {
		var kept []byte
		for r := range Lines(bufio.NewReaderSize(bytes.NewReader(body), 16), 1<<20) {
			kept = append(append(kept, bytes.TrimSpace(r.Data)...), '\n')
		}
		var want []byte
		for line := range bytes.SplitSeq(body, []byte("\n")) {
			if line = bytes.TrimSpace(line); len(line) > 0 {
				want = append(append(want, line...), '\n')
			}
		}
		if !bytes.Equal(kept, want) {
			t.Errorf("kept %q of %q", kept, want)
		}
	})
}
