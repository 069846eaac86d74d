package record

import "testing"

func TestALineSaysWhereItBreaks(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{"content":"x"`:   "the JSON ends too early: something is still open",
		`{"content":"x",}`: "this is not valid JSON: it breaks at column 16",
		`{"内容":一}`:         "this is not valid JSON: it breaks at column 7",
		`[1,]`:             "this is not valid JSON: it breaks at column 4",
	} {
		if err := notJSON([]byte(line)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}
