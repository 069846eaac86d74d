package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/http/servertest"
)

// readAll is what records yields: numbers with what they hold, and the error that ended it.
func readAll(in io.Reader) (numbers []int, raws []string, failed error) {
	for r, err := range records(in) {
		if err != nil {
			return numbers, raws, err
		}
		numbers, raws = append(numbers, r.Number), append(raws, string(r.Raw))
	}
	return numbers, raws, nil
}

func TestRecordsComeFromLinesAndFromArrays(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		input   string
		numbers []int
		raws    []string
	}{
		"nothing":          {"", nil, nil},
		"only blank lines": {"\n \n\t\r\n", nil, nil},
		"lines":            {"{\"a\":1}\n{\"a\":2}\n", []int{1, 2}, []string{`{"a":1}`, `{"a":2}`}},
		"UTF-16": {
			"\xff\xfe{\x00\"\x00\xdf\x00\"\x00:\x001\x00}\x00\n\x00", []int{1}, []string{`{"ß":1}`},
		},
		"no newline at the end":      {"{\"a\":1}\n{\"a\":2}", []int{1, 2}, []string{`{"a":1}`, `{"a":2}`}},
		"blank lines count":          {"\n{\"a\":1}\n\n{\"a\":2}\n", []int{2, 4}, []string{`{"a":1}`, `{"a":2}`}},
		"lines as Windows ends them": {"{\"a\":1}\r\n{\"a\":2}\r\n", []int{1, 2}, []string{`{"a":1}`, `{"a":2}`}},
		"a byte order mark":          {"\ufeff{\"a\":1}\n", []int{1}, []string{`{"a":1}`}},
		"a bad line is kept":         {"{\"a\":1}\nnonsense\n", []int{1, 2}, []string{`{"a":1}`, `nonsense`}},
		"an array":                   {" [ {\"a\": 1},\n\n {\"b\":\n[2]} ]\n", []int{1, 2}, []string{`{"a":1}`, `{"b":[2]}`}},
		"an empty array":             {"[]", nil, nil},
		"records that span lines":    {"{\n  \"a\": 1\n}\n{\n  \"a\": 2\n}\n", []int{1, 2}, []string{`{"a":1}`, `{"a":2}`}},
		"arrays one after the other": {
			"[{\"a\":1}]\n[]\n [{\"a\":2},[3]][4]\n",
			[]int{1, 2, 3, 4},
			[]string{`{"a":1}`, `{"a":2}`, `[3]`, `4`},
		},
		"records after an array": {
			"[{\"a\":1}]\n{\"a\":2}\n{\n\"a\":3}",
			[]int{1, 2, 3},
			[]string{`{"a":1}`, `{"a":2}`, `{"a":3}`},
		},
		"an array after a record": {
			"{\n\"a\":1}\n[{\"a\":2},{\"a\":3}]",
			[]int{1, 2, 3},
			[]string{`{"a":1}`, `{"a":2}`, `{"a":3}`},
		},
		"a first line cut short": {"{\"a\":\n{\"a\":2}\n", []int{1, 2}, []string{`{"a":`, `{"a":2}`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, in := range []io.Reader{strings.NewReader(test.input), iotest.OneByteReader(strings.NewReader(test.input))} {
				numbers, raws, err := readAll(in)
				if err != nil {
					t.Fatal(err)
				}
				servertest.Same(t, numbers, test.numbers)
				servertest.Same(t, raws, test.raws)
			}
		})
	}
}

func TestRecordsBeforeTheBreakOfAnArrayAreRead(t *testing.T) {
	t.Parallel()
	for _, broken := range []string{
		`[{"a":1},{"a":2},{"a":`, `[{"a":1},{"a":2}`, `[{"a":1},{"a":2}}`, `[{"a":1},{"a":2},,]`,
		`[{"a":1},{"a":2}] x`, `[{"a":1},{"a":2}]]`, `[{"a":1},{"a":2}],[{"a":3}]`, `[{"a":1}] [{"a":2}`, `[{"a":1},{"a":2}] {"a":`,
		"{\n\"a\":1}\n{\"a\":2}\n}",
	} {
		numbers, _, err := readAll(strings.NewReader(broken))
		if err == nil || !strings.Contains(err.Error(), "beyond record 2") {
			t.Errorf("%s: error %v, want one that names record 2", broken, err)
		}
		servertest.Same(t, numbers, []int{1, 2}, broken)
	}
}

func TestATextThatBeginsWithABracketIsNoArray(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"[see](x)", "[x] done\n[ ] to do {soon}", "[1] a footnote", "[[a wiki link]]",
		"[2026-03-01] it began\n",
	} {
		if _, _, err := readAll(strings.NewReader(text)); err == nil || err.Error() != noObject {
			t.Errorf("%s: got %v", text, err)
		}
	}
	for array, count := range map[string]int{"[]": 0, "[ ]\n[\n{}]": 1, `["a", "b"]`: 2, " [ [{}]]": 1} {
		if numbers, _, err := readAll(strings.NewReader(array)); err != nil || len(numbers) != count {
			t.Errorf("%s: got %d records, %v, want %d", array, len(numbers), err, count)
		}
	}
}

func TestAnOverlongLineFailsAloneAndIsNotHeld(t *testing.T) {
	t.Parallel()
	input := `{"a":1}` + "\n" + strings.Repeat("x", longestRecord+1) + "\n" + `{"a":2}`
	var failed, sent []int
	for r, err := range records(strings.NewReader(input)) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Err != nil {
			failed = append(failed, r.Number)
			servertest.Same(t, len(r.Raw), 0, r.Number)
			continue
		}
		sent = append(sent, r.Number)
	}
	servertest.Same(t, [][]int{failed, sent}, [][]int{{2}, {1, 3}}, "failed and sent")
}

func TestAnInputThatBreaksSaysWhere(t *testing.T) {
	t.Parallel()
	broken := io.MultiReader(strings.NewReader("{\"a\":1}\n{\"a\":"), iotest.ErrReader(io.ErrClosedPipe))
	numbers, _, err := readAll(broken)
	if err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("error %v, want one that names line 2", err)
	}
	servertest.Same(t, numbers, []int{1})
}

var origins = regexp.MustCompile(`"causation_id":"file:f:[0-9]+",`)

func TestARecordSaysWhereItStands(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		`{"id":"x"}`:                 `{"causation_id":"file:f \"1\":7","id":"x"}`,
		` { }`:                       `{"causation_id":"file:f \"1\":7"}`,
		`{"causation_id":"mine"}`:    `{"causation_id":"mine"}`,
		`{"content":"causation_id"}`: `{"causation_id":"file:f \"1\":7","content":"causation_id"}`,
		`["no object"]`:              `["no object"]`,
		`{`:                          `{`,
		``:                           ``,
	} {
		r := Record{Number: 7, Raw: []byte(input)}
		servertest.Same(t, string(withField(r.Raw, "causation_id", r.origin(`f "1"`))), want, input)
	}
	for path, want := range map[string]string{"-": "stdin", "/home/me/a b.ndjson": "a b.ndjson", "x\ny": "x_y"} {
		servertest.Same(t, fileName(path), want, path)
	}
}

func TestBatchesHoldWhatARequestMayCarry(t *testing.T) {
	t.Parallel()
	many := strings.Repeat(`{"id":"x"}`+"\n", 2*batchRecords+1)
	large := strings.Repeat(`{"id":"x","content":"`+strings.Repeat("x", 1<<19)+`"}`+"\n", 20)
	for name, input := range map[string]string{"many": many, "large": large} {
		var all bytes.Buffer
		read := int64(0)
		for b, err := range batches(strings.NewReader(input)) {
			if err != nil {
				t.Fatal(err)
			}
			body := origins.ReplaceAll(b.body(b.Sent, "", source{name: "f"}, ""), nil)
			if len(b.Records) > batchRecords || len(body) > batchBytes+len(b.Records) {
				t.Errorf("%s: a batch of %d records and %d bytes", name, len(b.Records), len(body))
			}
			all.Write(body)
			read += b.size()
		}
		servertest.Same(t, all.String(), input, name)
		servertest.Same(t, read, int64(len(input)), name)
	}
}

func FuzzRecordsOfLinesLoseNothing(f *testing.F) {
	f.Add([]byte("{\"a\":1}\n\n\r\n[2]"))
	f.Add([]byte(" [1, {\"b\": \"\\u0000\"}]"))
	f.Add([]byte("[1]\n[2, 3] {}"))
	f.Add([]byte("\xef\xbb\xbf\xff\n\x00"))
	f.Add([]byte("0"))
	f.Add([]byte("[see](x)\n{}"))
	f.Fuzz(func(t *testing.T, input []byte) {
		var got [][]byte
		array, text := false, false
		for r, err := range records(bytes.NewReader(input)) {
			if err != nil {
				array, text = true, err.Error() == noObject
				break
			}
			if bytes.ContainsRune(r.Raw, '\n') {
				t.Fatalf("record %d spans lines", r.Number)
			}
			got = append(got, r.Raw)
		}
		trimmed := bytes.Trim(bytes.TrimPrefix(input, []byte("\xef\xbb\xbf")), " \t\r\n")
		if text {
			if elements, valid := elementsOf(trimmed); valid && elements > 0 && trimmed[0] == '[' {
				t.Fatalf("%d elements of an array are no text", elements)
			}
			return
		}
		var first json.RawMessage
		spans := json.NewDecoder(bytes.NewReader(trimmed)).Decode(&first) == nil && bytes.ContainsRune(first, '\n')
		if array || spans || bytes.HasPrefix(trimmed, []byte("[")) {
			if elements, valid := elementsOf(trimmed); valid == array || valid && elements != len(got) {
				t.Fatalf("%d records of %d elements; broken %t, valid %t", len(got), elements, array, valid)
			}
			return
		}
		var want [][]byte
		for line := range bytes.Lines(bytes.TrimPrefix(input, []byte("\xef\xbb\xbf"))) {
			if line = bytes.TrimSpace(line); len(line) > 0 {
				want = append(want, line)
			}
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Fatalf("(-got +want):\n%s", diff)
		}
	})
}

// elementsOf counts the values that follow one another, and of an array its elements, holding each whole.
func elementsOf(input []byte) (count int, valid bool) {
	decoder := json.NewDecoder(bytes.NewReader(input))
	for {
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return count, errors.Is(err, io.EOF)
		}
		if value[0] != '[' {
			count++
			continue
		}
		var elements []json.RawMessage
		if json.Unmarshal(value, &elements) != nil {
			return count, false
		}
		count += len(elements)
	}
}
