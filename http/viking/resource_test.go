package viking_test

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/http/viking"
)

// upload sends a file and gives the id that it waits under.
func (w *world) upload(name, contentType string, content []byte, headers ...header) string {
	w.t.Helper()
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	part, err := writer.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {fmt.Sprintf(`form-data; name="file"; filename=%q`, name)}, "Content-Type": {contentType},
	})
	if err == nil {
		_, err = part.Write(content)
	}
	if err == nil {
		err = writer.Close()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	got := w.ask("POST", "/api/v1/resources/temp_upload", &form, append(headers, header("Content-Type: "+writer.FormDataContentType()))...).object()
	if got["temp_file_id"] == "" || got["temp_path"] != got["temp_file_id"] {
		w.t.Errorf("uploaded %v", got)
	}
	return got["temp_file_id"].(string)
}

// simple are the paths of what lies below a directory.
func (w *world) simple(uri string) []any {
	w.t.Helper()
	uris := w.ask("GET", at("/api/v1/fs/ls", uri, "simple=true", "recursive=true"), nil).result().([]any)
	for i, one := range uris {
		uris[i] = strings.TrimPrefix(one.(string), uri+"/")
	}
	return uris
}

func TestAnUploadBecomesAResource(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		id := w.upload("使用 指南.md", "text/markdown", []byte("# 指南\n\n先安装再运行。\r\n"))
		got := w.ask("POST", "/api/v1/resources", object{"temp_file_id": id, "path": "/etc/passwd", "reason": "onboarding", "strict": false}).object()
		if got["status"] != "success" || got["root_uri"] != "viking://resources/使用_指南" || got["source_path"] != "使用 指南.md" || len(got["errors"].([]any)) != 0 || got["meta"] == nil {
			t.Errorf("added %v", got)
		}
		same(t, w.read("viking://resources/使用_指南/使用_指南.md"), "# 指南\n\n先安装再运行。\n")
		like(t, w.find(object{"query": "安装", "target_uri": "viking://resources/"}),
			object{"total": 1.0, "resources": count(1)})
		w.ask("POST", "/api/v1/resources", object{"temp_file_id": id}).forbidden() // used up
		again := w.upload("使用 指南.md", "", []byte("another"))
		like(t, w.ask("POST", "/api/v1/resources", object{"temp_path": again}).object(),
			object{"root_uri": "viking://resources/使用_指南_1"})
		instead := w.upload("new.json", "application/json", []byte(`{"retries": 7}`))
		replacing := object{"temp_file_id": instead, "to": "viking://resources/使用_指南"}
		like(t, w.ask("POST", "/api/v1/resources", replacing).object(), object{"root_uri": "viking://resources/使用_指南"})
		same(t, w.simple("viking://resources/使用_指南"), []any{"new.json"})
		inside := w.upload("x.txt", "text/plain", []byte("x"))
		below := object{"temp_file_id": inside, "parent": "viking://resources/team"}
		like(t, w.ask("POST", "/api/v1/resources", below).object(), object{"root_uri": "viking://resources/team/x"})
	})
}

func TestALongTextIsATreeOfItsSections(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		var book strings.Builder
		for i := range 12 {
			fmt.Fprintf(&book, "## 第%d章 Chapter %d\n\n%s\n", i, i, strings.Repeat(fmt.Sprintf("Chapter %d says that the gateway retries. ", i), 60))
		}
		book.WriteString("```\n# no heading\n```\n" + strings.Repeat("This chapter is longer than a section may be. ", 500))
		root := w.ask("POST", "/api/v1/resources", object{"temp_file_id": w.upload("book.md", "", []byte(book.String()))}).object()["root_uri"].(string)
		parts := w.simple(root)
		if len(parts) < 13 || len(parts) > 40 || parts[0] != "01_第0章_Chapter_0.md" {
			t.Errorf("there is %v", parts)
		}
		var whole strings.Builder
		for _, part := range parts {
			content := w.ask("GET", at("/api/v1/content/read", root+"/"+part.(string)), nil).result().(string)
			whole.WriteString(content)
		}
		same(t, whole.String(), book.String(), "the parts joined are not the whole")
		like(t, w.ask("GET", at("/api/v1/content/overview", root), nil).result().(string),
			containing("- 01_第0章_Chapter_0.md: "), "its overview is")
		w.ask("DELETE", at("/api/v1/resources", root), nil).result()
		w.ask("DELETE", "/api/v1/resources", object{"uri": root}).result() // gone already
		w.ask("GET", at("/api/v1/fs/ls", root), nil).missing()
	})
}

func TestBytesAreKeptAsTheyAre(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		photo := bytes.Repeat([]byte{0x89, 'P', 'N', 'G', 0, 0xff, '\'', '\\', '?'}, 300_000)
		root := w.ask("POST", "/api/v1/resources", object{"temp_file_id": w.upload("photo.png", "image/png", photo), "reason": "the whiteboard"}).object()["root_uri"]
		const uri = "viking://resources/photo/photo.png"
		same(t, root, "viking://resources/photo")
		download := w.ask("GET", at("/api/v1/content/download", uri), nil).want(http.StatusOK)
		if !bytes.Equal(download.body, photo) || download.header.Get("Content-Type") != "image/png" {
			t.Errorf("downloaded %d bytes, %v", len(download.body), download.header)
		}
		like(t, w.read(uri), containing("image/png"))
		like(t, w.read(uri), containing("the whiteboard"))
		item := w.itemAt("viking://resources/photo")
		stat := w.ask("GET", at("/api/v1/fs/stat", uri), nil).object()["size"]
		tree := w.ask("GET", at("/api/v1/fs/tree", "viking://resources/photo"), nil).result().([]any)[0].(object)["size"]
		same(t, []any{stat, tree}, []any{float64(len(photo)), float64(len(photo))}, "sizes")
		like(t, item, object{"media": "image", "meta": object{"bytes": object{"size": float64(len(photo))}}}, "the item is")
		w.ask("DELETE", "/v1/knowledge/"+item["id"].(string)+"?erase=true", nil).want(http.StatusNoContent)
		var left int
		err := w.db.NewRaw("SELECT count(*) FROM files").Scan(database.ForEveryTenant(t.Context()), &left)
		if err != nil || left != 0 {
			t.Errorf("%d files are left, %v", left, err)
		}
	})
}

func TestOtherServersAreAskedWithCare(t *testing.T) {
	pages := http.NewServeMux()
	pages.HandleFunc("/guide.md", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "# Guide\n\nPin chromedriver.") })
	pages.HandleFunc("/docs/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<html><head><title>x</title><style>p{}</style></head><body><h1>安装</h1><script>alert(1)</script><p>先&nbsp;构建。<b>Then</b> run.</p><ul><li>one<li>two</ul></body></html>")
	})
	pages.HandleFunc("/endless", func(w http.ResponseWriter, _ *http.Request) {
		for range 21 << 10 {
			if _, err := w.Write(make([]byte, 1<<10)); err != nil {
				return
			}
		}
	})
	pages.HandleFunc("/elsewhere", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
	})
	site := httptest.NewServer(pages)
	t.Cleanup(site.Close)
	each(t, open, func(t *testing.T, w *world) {
		add := func(path string) *answer { return w.ask("POST", "/api/v1/resources", object{"path": site.URL + path}) }
		like(t, add("/guide.md").object(),
			object{"root_uri": "viking://resources/guide", "source_path": site.URL + "/guide.md"})
		add("/docs/install").result()
		same(t, w.read("viking://resources/install/install.md"), "# 安装\n\n先\u00a0构建。**Then** run.\n\n- one\n- two")
		add("/nothing").invalid()
		add("/endless").invalid()
		add("/elsewhere").invalid()
	}, func(cfg *viking.Config) { cfg.FetchPrivate = true })
	t.Run("not in private networks", func(t *testing.T) {
		each(t, open, func(_ *testing.T, w *world) {
			for _, url := range []string{site.URL + "/guide.md", strings.Replace(site.URL, "127.0.0.1", "localhost", 1) + "/guide.md", "http://[::1]:1/", "http://10.0.0.1/x", "http://169.254.169.254/latest/meta-data", "http://[::ffff:127.0.0.1]:1/", "http://0.0.0.0:1/"} {
				w.ask("POST", "/api/v1/resources", object{"path": url}).forbidden()
			}
		})
	})
}

func TestFilesOfTheServerAreReadWhereItIsAllowed(t *testing.T) {
	directory := t.TempDir()
	for name, content := range map[string]string{
		"a.md": "# A\nallowed", "sub/b.txt": "b", "a.txt": "also", "c.log": "no", "xyz.md": "no", "node_modules/d.md": "no", ".git/e.md": "no", "empty.bin": "",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(directory, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(directory, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"link.md": "/etc/hostname", "out": "/etc", "round": "."} {
		if err := os.Symlink(to, filepath.Join(directory, name)); err != nil {
			t.Fatal(err)
		}
	}
	each(t, open, func(t *testing.T, w *world) {
		add := func(path string) *answer { return w.ask("POST", "/api/v1/resources", object{"path": path}) }
		add(filepath.Join(directory, "a.md")).result()
		add(filepath.Join(directory, "sub/b.txt")).result()
		same(t, w.simple("viking://resources"), []any{"a", "a/a.md", "b", "b/b.txt"})
		add(filepath.Join(directory, "link.md")).invalid()
		add("/etc/hostname").forbidden()
		add(filepath.Join(directory, "nowhere")).invalid()
		add(filepath.Join(directory, "..")).forbidden()
		add(filepath.Join(directory, "out")).invalid()

		all := w.ask("POST", "/api/v1/resources", object{"path": directory, "to": "viking://resources/all", "exclude": "*.log, x*", "ignore_dirs": "node_modules"}).object()
		like(t, all, object{"root_uri": "viking://resources/all", "source_path": directory, "errors": count(0)})
		same(t, w.simple("viking://resources/all"),
			[]any{"a", "a/a.md", "a.txt", "empty.bin", "sub", "sub/b.txt"})
		w.ask("POST", "/api/v1/resources", object{"path": directory, "include": "*.pdf"}).invalid()
		add(directory + "/../../etc/hostname").forbidden()
	}, func(cfg *viking.Config) { cfg.HostPaths = []string{directory} })
}

func TestResourcesOfOneNameLieBesideEachOther(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		hidden := object{"type": "definition", "content": "x", "scopes": []string{"user:eve"}, "owner": "user:eve", "uri": "viking://resources/guide/guide.md"}
		w.ask("POST", "/v1/knowledge", hidden).want(http.StatusCreated)
		mia := header("Annals-On-Behalf-Of: user:mia") // who does not see it
		var uploads []string
		for range 6 {
			uploads = append(uploads, w.upload("guide.md", "text/markdown", []byte("Retry with jitter."), mia))
		}
		roots := make(chan any, len(uploads))
		var adding sync.WaitGroup
		for _, upload := range uploads {
			adding.Go(func() {
				added := w.ask("POST", "/api/v1/resources", object{"temp_file_id": upload}, mia)
				if added.status != http.StatusOK {
					t.Errorf("got %d %s", added.status, added.body)
					return
				}
				roots <- added.json()["result"].(object)["root_uri"]
			})
		}
		adding.Wait()
		close(roots)
		places := map[any]bool{"viking://resources/guide": true}
		for root := range roots {
			places[root] = true
		}
		same(t, len(places), len(uploads)+1, "they lie at", places)
	})
}

func TestAResourceHasTagsAndWarnings(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		added := w.ask("POST", "/api/v1/resources", object{
			"temp_file_id": w.upload("guide.md", "", []byte("Retry with jitter.")), "tags": []string{"team=web", "urgent"},
			"watch_interval": 60, "preserve_structure": true, "directly_upload_media": true, "unheard_of": 1,
		}).object()
		want := []any{"preserve_structure is not supported and has no effect", "watch_interval is not supported and has no effect"}
		like(t, added, object{"warnings": want})
		total := func(tags ...string) any {
			return w.find(object{"query": "retry", "tags": tags})["total"]
		}
		same(t, total("team=web", "urgent"), 1.0)
		same(t, total("team=api"), 0.0)
		id := w.upload("x.md", "", []byte("x"))
		w.ask("POST", "/api/v1/resources", object{"temp_file_id": id, "tags": []string{"="}}).invalid()
		like(t, w.ask("POST", "/api/v1/resources", object{"temp_file_id": id, "watch_interval": 0}).object(),
			object{"warnings": nil})
	})
}
