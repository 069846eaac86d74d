package viking_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/browse"
)

// say notes what a model said of a directory.
func (w *world) say(uri domain.URI, audience domain.Scope, abstract, overview string) {
	w.t.Helper()
	shelves, ctx := browse.NewDirectories(w.db), database.ForTenant(w.t.Context(), "default")
	now := time.Now()
	err := w.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		return shelves.Mark(ctx, tx, "default", []domain.URI{uri}, now)
	})
	if err != nil {
		w.t.Fatal(err)
	}
	task, due, err := shelves.Next(ctx, now, now, now)
	if err != nil || !due {
		w.t.Fatal(due, err)
	}
	said := domain.DirectorySummary{Summary: domain.Summary{Abstract: abstract, Overview: overview}, Audience: audience, MadeOf: "x"}
	if err := shelves.Keep(ctx, task, said, nil, now); err != nil {
		w.t.Fatal(err)
	}
}

func TestADirectoryIsAboutWhatAModelSaidOfIt(t *testing.T) {
	each(t, keyed, func(t *testing.T, w *world) {
		ada := w.ask("POST", accounts+"/default/users", object{"user_id": "ada"}, as(rootKey)).key()
		bob := w.ask("POST", accounts+"/default/users", object{"user_id": "bob"}, as(rootKey)).key()
		w.write("viking://resources/guide/one.md", "Chapter one.")
		w.write("viking://resources/guide/two.md", "Chapter two.")
		level := func(of string, caller header) string {
			return w.ask("GET", at("/api/v1/content/"+of, "viking://resources/guide"), nil, caller).result().(string)
		}
		extractive := level("abstract", ada)
		w.say("viking://resources/guide", domain.Public, "How it all goes.", "# All of it")
		if got := level("abstract", ada); got != "How it all goes." || extractive == got {
			t.Errorf("%q, without a model %q", got, extractive)
		}
		same(t, level("overview", ada), "# All of it")
		listed := w.ask("GET", at("/api/v1/fs/ls", "viking://resources"), nil, ada).entries()
		same(t, listed[0]["abstract"], "How it all goes.")
		like(t, w.ask("GET", at("/api/v1/content/overview", "viking://resources"), nil, ada).result().(string),
			containing("guide/: How it all goes."), "what it lies in is about")

		// Who sees more in it is told of that, too.
		w.ask("POST", "/v1/knowledge", object{
			"content": "Bob's own.", "uri": "viking://resources/guide/bob.md", "type": "definition", "context_type": "resource", "scopes": []string{"user:bob"},
		}, bob).want(http.StatusCreated)
		like(t, level("abstract", bob), containing("Bob's own."))
		same(t, level("abstract", ada), "How it all goes.")
		// Who does not belong to those whom it is for is not told.
		w.say("viking://resources/guide", "user:bob", "Bob's guide.", "# Bob")
		like(t, level("abstract", ada), lacking("Bob"))
		// What somebody wrote comes first.
		w.ask("POST", "/api/v1/fs/mkdir", object{"uri": "viking://resources/guide", "description": "Ada's words."}, ada).object()
		same(t, level("abstract", bob), "Ada's words.")
	})
}
