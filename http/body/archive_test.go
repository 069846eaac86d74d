package body_test

import (
	"archive/zip"
	"slices"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/annals-kb/annals/http/body"
)

func TestNamesInArchivesAreReadInTheirEncoding(t *testing.T) {
	t.Parallel()
	for _, given := range []struct {
		in    encoding.Encoding
		names []string
	}{
		{simplifiedchinese.GBK, []string{"README.md", "笔记/部署指南.md", "笔记/API设计（草稿）.md"}},
		{simplifiedchinese.GBK, []string{"a.md", "赵喆—会议.md"}},
		{japanese.ShiftJIS, []string{"メモ/テスト.md", "README.md"}},
		{japanese.ShiftJIS, []string{"いえ.md"}},
		{japanese.ShiftJIS, []string{"設計書/東京会議の議事録.md", "手順①.md"}},
		{japanese.ShiftJIS, []string{"会議.md"}},
		{charmap.CodePage866, []string{"Решения/Очередь сообщений.md", "README.md", "DevOps.md"}},
		{charmap.CodePage866, []string{"ПЛАН.md"}},
		{charmap.CodePage866, []string{"решения.md", "Ёлка №1.md"}},
		{charmap.CodePage437, []string{"Lösung für Größen.md", "café.md"}},
	} {
		var files []*zip.File
		for _, name := range given.names {
			raw, err := given.in.NewEncoder().String(name)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, &zip.File{FileHeader: zip.FileHeader{Name: raw}})
		}
		if got := body.Names(files); !slices.Equal(got, given.names) {
			t.Errorf("%v: got %q, want %q", given.in, got, given.names)
		}
	}
	var mixed []*zip.File
	for _, name := range []string{`a\b.md`, "\x81n\xffe.md", "\xb1\xca\xbc\xc7"} {
		mixed = append(mixed, &zip.File{FileHeader: zip.FileHeader{Name: name}})
	}
	if got := body.Names(mixed); !slices.Equal(got, []string{"a/b.md", "ün\u00a0e.md", "笔记"}) {
		t.Errorf("got %q", got)
	}
}
