package document_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/annals-kb/annals/http/document"
)

// Whatever a Word document contains, reading it ends, and says text or why not.
func FuzzADocumentIsReadOrRefused(f *testing.F) {
	for _, body := range []string{
		`<w:document><w:body><w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>One</w:t></w:r></w:p></w:body></w:document>`,
		`<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc></w:tr></w:tbl>`, `<t>`, `<tc><tc><p/></tc>`, ``,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var b bytes.Buffer
		archive := zip.NewWriter(&b)
		file, err := archive.Create("word/document.xml")
		if err == nil {
			_, err = file.Write(body)
		}
		if err != nil || archive.Close() != nil {
			t.Fatal(err)
		}
		text, err := document.DOCX(b.Bytes())
		if err != nil && !errors.Is(err, document.ErrUnreadable) && !errors.Is(err, document.ErrTooMuch) {
			t.Errorf("refused with %v", err)
		}
		if err == nil && (text == "" || !utf8.ValidString(text)) {
			t.Errorf("it says %q", text)
		}
	})
}
