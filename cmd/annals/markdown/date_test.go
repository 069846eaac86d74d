package markdown

import "testing"

func TestDatesAreReadInManyForms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2024-04-01": "2024-04-01T00:00:00Z", "2024-04-01T10:20:30+02:00": "2024-04-01T08:20:30Z",
		"2024-04-01T10:20:30.5": "2024-04-01T10:20:30Z", "2024-04-01 10:20": "2024-04-01T10:20:00Z",
		"Monday, April 1st 2024": "2024-04-01T00:00:00Z", "Monday, April 1st 2024, 3:45:12 pm": "2024-04-01T15:45:12Z",
		"March 20, 2025 3:04 PM": "2025-03-20T15:04:00Z", "23.02.2015": "2015-02-23T00:00:00Z", "2015年2月23日": "2015-02-23T00:00:00Z",
		"2015년 2월 23일": "2015-02-23T00:00:00Z", "23. Februar 2015": "2015-02-23T00:00:00Z", "23 févr. 2015": "2015-02-23T00:00:00Z",
		"23 de febrero de 2015": "2015-02-23T00:00:00Z", "23 февр. 2015 г.": "2015-02-23T00:00:00Z", "2015/02/23": "2015-02-23T00:00:00Z",
		"1er juillet 2015": "2015-07-01T00:00:00Z", "8 juin 2015": "2015-06-08T00:00:00Z", "23-Feb-2015": "2015-02-23T00:00:00Z",
		"23/02/2015": "2015-02-23T00:00:00Z", "02/23/2015": "2015-02-23T00:00:00Z", "last changed by Ann am 03.02.2015": "2015-02-03T00:00:00Z",
		"02/03/2015": "", "31.02.2015": "", "2999-01-01": "", "soon": "", "1.10.2": "", "Table 3 2015": "",
	} {
		got := ""
		if at := ParseDate(text); at != nil {
			got = at.Format("2006-01-02T15:04:05Z07:00")
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestADailyNoteHasTheDateOfItsName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"2024-04-01": "2024-04-01", "2024-04-01 Standup": "2024-04-01", "2024_04_01": "2024-04-01", "20240401": "2024-04-01",
		"202404011230 Zettel": "2024-04-01", "2024年4月1日": "2024-04-01", "April 1st, 2024": "2024-04-01", "Notes 01.04.2024": "2024-04-01",
		"Monday, April 1st 2024": "2024-04-01", "2024-04-01-title": "2024-04-01", "RFC 2024-04-01 drafts": "", "20249901": "", "Coffee": "",
	} {
		got := ""
		if at := dateOf(map[string]any{}, name); at != nil {
			got = at.Format("2006-01-02")
		}
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	at := dateOf(map[string]any{"date created": "Monday, April 1st 2024", "updated": "2025-01-01"}, "2020-01-01")
	if at == nil || at.Format("2006-01-02") != "2024-04-01" {
		t.Errorf("what a note says: %v", at)
	}
}
