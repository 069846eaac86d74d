package viking_test

import (
	"net/http"
	"testing"
)

// What a file is about it says itself: something below it would be accepted and never shown.
func TestAFileHasNoFileAboutItself(t *testing.T) {
	onOne(t, open, func(t *testing.T, w *world) {
		const file, own = "viking://resources/a.md", "viking://resources/notes.md"
		w.write(file, "# Deploying\n\nOn Mondays.")
		w.write(own, "Something else.")
		written := w.position()
		for _, name := range []string{".abstract.md", ".overview.md"} {
			at := file + "/" + name
			for what, refused := range map[string]*answer{
				"create":  w.ask("POST", "/api/v1/content/write", object{"uri": at, "content": "mine", "mode": "create"}),
				"replace": w.ask("POST", "/api/v1/content/write", object{"uri": at, "content": "mine"}),
				"append":  w.ask("POST", "/api/v1/content/write", object{"uri": at, "content": "mine", "mode": "append"}),
				"batch":   w.ask("POST", "/api/v1/content/batch-write", object{"root_uri": "viking://resources", "operations": []object{{"uri": at, "content": "mine"}}}),
				"move":    w.ask("POST", "/api/v1/fs/mv", object{"from_uri": own, "to_uri": at}),
			} {
				like(t, refused.refused(http.StatusPreconditionFailed, "FAILED_PRECONDITION"),
					containing("which says by itself what it is about: PATCH /v1/knowledge/{id}"), what, name)
			}
		}
		same(t, w.position(), written, "the log is at")
		listed := w.ask("GET", at("/api/v1/fs/ls", "viking://resources"), nil).entries()
		like(t, listed, []any{object{"isDir": false}, object{}})
		w.write("viking://resources/guide/.abstract.md", "All about it.") // nothing else lies there yet
		same(t, w.ask("GET", at("/api/v1/content/abstract", "viking://resources/guide"), nil).result(),
			"All about it.", "the directory is about")
	})
}
