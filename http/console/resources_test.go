package console_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/servertest"
)

// sendFile sends a form with a file.
func (w *world) sendFile(browser *http.Client, path, name, content string, fields ...string) (int, string) {
	w.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	file, err := form.CreateFormFile("file", name)
	if err == nil {
		_, err = file.Write([]byte(content))
	}
	for i := 0; err == nil && i < len(fields); i += 2 {
		err = form.WriteField(fields[i], fields[i+1])
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	status, _, page := servertest.Send(w.t, browser, servertest.Request(w.t, http.MethodPost, w.url+path, &body,
		"Content-Type: "+form.FormDataContentType(), "Origin: "+w.url))
	return status, string(page)
}

func TestAFileBecomesAResourceThatIsReadAndRemoved(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		browser := w.login(rootKey)
		_, page := w.visit(browser, "/console/resources")
		containsAll(t, page, "Nothing is here", `enctype="multipart/form-data"`)
		status, page := w.sendFile(browser, "/console/resources", "使用 指南.md", "# Guide\n\n"+strings.Repeat("Install it, then run it. ", 100_000), "reason", "onboarding")
		if status != http.StatusOK {
			t.Fatalf("%d\n%.2000s", status, page)
		}
		containsAll(t, page, "The resource is added.", "使用_指南")
		at := "/console/resources?uri=" + url.QueryEscape("viking://resources/使用_指南")
		_, page = w.visit(browser, at)
		containsAll(t, page, "Install it", "can be restored", `action="/console/resources/remove?uri=`)
		status, page = w.send(browser, strings.Replace(at, "resources?", "resources/remove?", 1), "reason", "old")
		if status != http.StatusOK || !strings.Contains(page, "The resource is removed.") {
			t.Errorf("%d\n%.2000s", status, page)
		}
		if status, _ := w.visit(browser, at); status != http.StatusNotFound {
			t.Errorf("the removed resource: %d", status)
		}
	})
}

func TestAResourceSaysWhatWasRemovedFromIt(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		browser := w.login(rootKey)
		_, page := w.sendFile(browser, "/console/resources", "office.md", "# Office\n\nCall 13812345678 or mail office@example.com.")
		containsAll(t, page, "something in it was removed</strong>: e-mail address: 1, phone number: 1",
			`href="/console/resources?uri=viking%3A%2F%2Fresources%2Foffice"`)
	})
}

func TestARefusedResourceSaysWhyAndKeepsWhatWasTyped(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		w.tell()
		browser := w.login(rootKey)
		status, page := w.send(browser, "/console/resources", "path", "http://127.0.0.1:1/x", "reason", "to try")
		if status != http.StatusForbidden || valueOf(t, page, "path") != "http://127.0.0.1:1/x" {
			t.Errorf("%d\n%s", status, page)
		}
		containsAll(t, page, "private network")
		if status, page = w.send(browser, "/console/resources"); status != http.StatusBadRequest {
			t.Errorf("nothing: %d\n%s", status, page)
		}
		if status, _ := w.send(browser, "/console/resources?as_of=1", "path", "http://example.com"); status != http.StatusConflict {
			t.Errorf("in the past: %d", status)
		}
		if status, _ := w.send(browser, "/console/resources/remove?uri=viking://user/default"); status != http.StatusNotFound {
			t.Errorf("a place of no resource: %d", status)
		}
		status, page = w.sendFile(browse(t), "/console/resources", "a.md", "a")
		if status != http.StatusUnauthorized {
			t.Errorf("without a session: %d\n%s", status, page)
		}
	})
}
