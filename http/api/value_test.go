package api

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestOneValueIsWrittenAsItselfAndReadAsAList(t *testing.T) {
	t.Parallel()
	var tags Tags
	if err := json.Unmarshal([]byte(`{"lang":["go","c"],"os":"linux","none":[]}`), &tags); err != nil {
		t.Fatal(err)
	}
	want := Tags{"lang": {"go", "c"}, "os": {"linux"}, "none": {}}
	if !reflect.DeepEqual(tags, want) {
		t.Errorf("got %v, want %v", tags, want)
	}
	written, err := json.Marshal(tags)
	if err != nil || string(written) != `{"lang":["go","c"],"none":[],"os":"linux"}` {
		t.Errorf("got %s, %v", written, err)
	}
	for _, bad := range []string{`{"os":1}`, `{"os":[1]}`, `{"os":{}}`, `[]`} {
		if err := json.Unmarshal([]byte(bad), &tags); err == nil {
			t.Errorf("%s was read as %v", bad, tags)
		}
	}
}
