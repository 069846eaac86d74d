package viking_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// pdf is a PDF of one page: each line is written in letters of a size.
func pdf(lines ...string) []byte {
	var page strings.Builder
	page.WriteString("BT 1 0 0 1 72 720 Tm\n")
	for _, line := range lines {
		size, text, _ := strings.Cut(line, " ")
		fmt.Fprintf(&page, "/F1 %s Tf (%s) Tj 0 -14 Td\n", size, text)
	}
	page.WriteString("ET")
	return pdfOf(
		"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
		fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", page.Len(), page.String()),
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
	)
}

// pdfOf is a PDF of these objects, the first of which is its catalogue.
func pdfOf(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	var places []int
	for i, object := range objects {
		places = append(places, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	table := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, place := range places {
		fmt.Fprintf(&b, "%010d 00000 n \n", place)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, table)
	return b.Bytes()
}

// docx is a Word document with this body.
func docx(body string) []byte {
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	file, err := archive.Create("word/document.xml")
	if err == nil {
		_, err = fmt.Fprintf(file, `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>%s</w:body></w:document>`, body)
	}
	if err = errors.Join(err, archive.Close()); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func TestDocumentsAreReadAndDivided(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		add := func(name string, content []byte) string {
			return w.ask("POST", "/api/v1/resources", object{"temp_file_id": w.upload(name, "", content)}).object()["root_uri"].(string)
		}
		add("manual.pdf", pdf("24 Installing", "10 Run the installer and read the log.", "10 It takes a minute."))
		got := w.read("viking://resources/manual/manual.md")
		same(t, got, "# Installing\n\nRun the installer and read the log.\nIt takes a minute.", "the PDF says")
		var chapters strings.Builder
		for i := range 4 {
			fmt.Fprintf(&chapters, `<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>第%d章</w:t></w:r></w:p>`, i+1)
			for range 60 {
				chapters.WriteString(`<w:p><w:r><w:t xml:space="preserve">Retry with jitter, </w:t></w:r><w:r><w:t>and never without a limit, since services come back one by one.</w:t></w:r></w:p>`)
			}
		}
		chapters.WriteString(`<w:tbl><w:tr><w:tc><w:p><w:r><w:t>code</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>meaning</w:t></w:r></w:p></w:tc></w:tr></w:tbl>`)
		root := add("book.docx", docx(chapters.String()))
		parts := w.simple(root)
		if len(parts) < 3 || parts[0] != "1_第1章.md" {
			t.Fatalf("the document has the parts %v", parts)
		}
		first := w.ask("GET", at("/api/v1/content/read", root+"/"+parts[0].(string)), nil).result().(string)
		like(t, first, beginning("# 第1章\n\nRetry with jitter, and never without a limit"), "the first part is")
		last := w.ask("GET", at("/api/v1/content/read", root+"/"+parts[len(parts)-1].(string)), nil).result().(string)
		like(t, last, containing("code | meaning"), "the last part ends with")
		// What says nothing to read is kept as it is.
		for name, content := range map[string][]byte{
			"damaged.pdf": []byte("%PDF-1.4 and then nothing"), "damaged.docx": []byte("PK"), "scan.pdf": pdf(),
			"deep.pdf": pdfOf("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>", "<</Type/Page/Contents "+strings.Repeat("[", 1<<20)+">>"),
		} {
			added := w.ask("POST", "/api/v1/resources", object{"temp_file_id": w.upload(name, "", content)}).object()
			kept := added["root_uri"].(string)
			like(t, added["errors"].([]any), []any{beginning(name + " was kept unread: it is damaged")}, name)
			like(t, w.simple(kept), []any{ending(name[strings.Index(name, "."):])}, name)
		}
	})
}

func TestAHostileDocumentIsRefused(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		endless := strings.Repeat(`<w:p><w:r><w:t>`+strings.Repeat("again ", 20_000)+`</w:t></w:r></w:p>`, 90)
		for name, content := range map[string][]byte{
			"bomb.docx":   docx(endless),
			"endless.pdf": pdf(slices.Repeat([]string{"10 " + strings.Repeat("again ", 20_000)}, 75)...),
		} {
			got := w.ask("POST", "/api/v1/resources", object{"temp_file_id": w.upload(name, "", content)})
			like(t, got.invalid(), containing("too much"), name)
		}
		same(t, len(w.ask("GET", at("/api/v1/fs/ls", "viking://resources", "simple=true"), nil).result().([]any)), 0)
	})
}
