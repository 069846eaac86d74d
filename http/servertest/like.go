package servertest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a part of an answer is wanted to be when its whole value is not: any value but null, a text with this part, this
// beginning or this end, a text without this part, so many elements or bytes.
type (
	Some       struct{}
	Containing string
	Beginning  string
	Ending     string
	Lacking    string
	Count      int
)

// Like fails the test unless a JSON value is what is wanted. Members of an object that want does not name are not
// compared, and nil is null or left out. What it is about stands before the message.
func Like(t testing.TB, got, want any, about ...any) {
	t.Helper()
	if wrong := unlike("", got, want); wrong != "" {
		t.Errorf("%s%s, in\n%.2000s", prefix(about), strings.TrimSpace(wrong), fmt.Sprint(got))
	}
}

// Same fails the test unless two values are equal.
func Same[V any](t testing.TB, got, want V, about ...any) {
	t.Helper()
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("%s(-got +want)\n%s", prefix(about), diff)
	}
}

func prefix(about []any) string {
	if len(about) == 0 {
		return ""
	}
	return strings.TrimSuffix(fmt.Sprintln(about...), "\n") + ": "
}

// unlike says where a value is not what is wanted; empty if it is.
func unlike(at string, got, want any) string {
	text, isText := got.(string)
	var as bool
	switch want := want.(type) {
	case map[string]any:
		object, is := plain(got).(map[string]any)
		if !is {
			return fmt.Sprintf("%s is %v, want an object", at, got)
		}
		for name, value := range want {
			if wrong := unlike(at+"."+name, object[name], value); wrong != "" {
				return wrong
			}
		}
		return ""
	case []any:
		list := reflect.ValueOf(got)
		if list.Kind() != reflect.Slice || list.Len() != len(want) {
			return fmt.Sprintf("%s is %v, want %d elements", at, got, len(want))
		}
		for i := range want {
			if wrong := unlike(fmt.Sprintf("%s[%d]", at, i), list.Index(i).Interface(), want[i]); wrong != "" {
				return wrong
			}
		}
		return ""
	case Some:
		as = got != nil
	case Containing:
		as = isText && strings.Contains(text, string(want))
	case Beginning:
		as = isText && strings.HasPrefix(text, string(want))
	case Ending:
		as = isText && strings.HasSuffix(text, string(want))
	case Lacking:
		as = isText && !strings.Contains(text, string(want))
	case Count:
		of := reflect.ValueOf(got)
		as = (of.Kind() == reflect.Slice || isText) && of.Len() == int(want)
	default:
		as = reflect.DeepEqual(plain(got), plain(want))
	}
	if as {
		return ""
	}
	return fmt.Sprintf("%s is %v, want %#v", at, got, want)
}

// plain is a value as JSON has it, so that numbers and texts of any type compare.
func plain(value any) any {
	written, err := json.Marshal(value)
	var read any
	if err != nil || json.Unmarshal(written, &read) != nil {
		return value
	}
	return read
}
