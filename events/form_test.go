package events

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/domain"
)

// anyForm has a field of every kind that forms know, and of some that they do not.
type anyForm struct {
	Text    string            `json:"text,omitempty"`
	Named   domain.Entity     `json:"named"`
	Pointed *domain.Category  `json:"pointed,omitempty"`
	Twice   **string          `json:"twice,omitempty"`
	Numbers *[]int            `json:"numbers,omitempty"`
	List    []domain.Scope    `json:"list,omitempty"`
	Tags    domain.Tags       `json:"tags,omitempty"`
	Object  rememberedText    `json:"object,omitzero"`
	Number  int               `json:"number,omitempty"`
	Raw     json.RawMessage   `json:"raw,omitempty"`
	Others  map[string]string `json:"others,omitempty"`
}

func FuzzAFormIsReadAsJSON(f *testing.F) {
	for _, s := range samples() {
		p, err := Encode(s.fact)
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(p.Data))
		f.Add([]byte(p.Text))
	}
	for _, text := range []string{
		`{}`, `{"text":"a"}`, `{"text":"\"\\\/\b\f\n\r\t"}`, `{"text":"\u2028"}`, `{"text":"\\"}`, `{"text":"\x"}`, `{"text":"`, `{"text":"\`,
		`{"text":"a","text":"b"}`, `{"Text":"a"}`, `{"text":null}`, `{"text":"a"} `, `{ "text":"a"}`, `{"text":"a",}`, `{"text" :"a"}`,
		`{"text":"重试"}`, "{\"text\":\"\xff\"}", "{\"text\":\"\n\"}", `{"list":[]}`, `{"list":["a","b"]}`, `{"list":["a",]}`, `{"list":[1]}`, `{"list":`,
		`{"tags":{}}`, `{"tags":{"a":["b"],"a":["c"],"":[]}}`, `{"tags":{"a":"b"}}`, `{"pointed":""}`, `{"pointed":null}`, `{"twice":"a"}`, `{"twice":null}`, `{"numbers":[1]}`, `{"number":1,"text":"a"}`,
		`{"object":{"task":"a","tags":{"b":["c"]},"source":{"urls":["d"]}},"named":"e"}`, `{"object":{},"object":{"task":"a"}}`, `{"others":{"a":"b"}}`, `[]`, `"a"`, ``,
	} {
		f.Add([]byte(text))
	}
	form := formOf(reflect.TypeFor[anyForm]())
	f.Fuzz(func(t *testing.T, data []byte) {
		var got, want anyForm
		gotErr, wantErr := form.unmarshal(data, &got), json.Unmarshal(data, &want)
		if (gotErr == nil) != (wantErr == nil) {
			t.Fatalf("got error %v, want %v", gotErr, wantErr)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestWhatIsRecordedMostIsReadByItsForm(t *testing.T) {
	t.Parallel()
	for _, fact := range []any{rememberedData{}, rememberedText{}, ballotData{}, useText{}, revisedText{}, rescopedData{}, reasonText{}} {
		if form := formOf(reflect.TypeOf(fact)); form == nil {
			t.Errorf("%T is left to encoding/json", fact)
		}
	}
}
