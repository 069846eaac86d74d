package servertest

import "testing"

func TestUnlikeSaysWhereAValueIsNotWhatIsWanted(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	got := object{"n": 1.0, "text": "abc", "none": nil, "list": []any{object{"id": "a", "x": 2.0}, "b"}}
	for want, wrong := range map[*object]string{
		{"n": 1, "text": "abc", "none": nil, "absent": nil, "list": []any{object{"id": "a"}, "b"}}: "",
		{"n": Some{}, "list": Count(2), "text": Containing("b")}:                                   "",
		{"text": Beginning("ab")}: "", {"text": Ending("bc")}: "", {"text": Lacking("d")}: "", {"text": Count(3)}: "",
		{"n": 2}:                             ".n is 1, want 2",
		{"n": nil}:                           ".n is 1, want <nil>",
		{"none": Some{}}:                     ".none is <nil>, want servertest.Some{}",
		{"absent": Lacking("x")}:             `.absent is <nil>, want "x"`,
		{"text": Containing("d")}:            `.text is abc, want "d"`,
		{"text": Beginning("b")}:             `.text is abc, want "b"`,
		{"text": Ending("b")}:                `.text is abc, want "b"`,
		{"text": Lacking("b")}:               `.text is abc, want "b"`,
		{"list": Count(3)}:                   ".list is [map[id:a x:2] b], want 3",
		{"list": []any{object{}}}:            ".list is [map[id:a x:2] b], want 1 elements",
		{"list": []any{object{}, "c"}}:       ".list[1] is b, want \"c\"",
		{"list": []string{"a", "b"}}:         ".list is [map[id:a x:2] b], want []string{\"a\", \"b\"}",
		{"text": object{"id": Some{}}}:       ".text is abc, want an object",
		{"absent": object{"id": "a"}}:        ".absent is <nil>, want an object",
		{"list": []any{object{"x": 3}, "b"}}: ".list[0].x is 2, want 3",
	} {
		if said := unlike("", got, *want); said != wrong {
			t.Errorf("%v: %q, want %q", *want, said, wrong)
		}
	}
}
