package sessions_test

import (
	"net/http"
	"testing"

	"go.uber.org/goleak"

	. "github.com/annals-kb/annals/http/servertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestManyLessonsAreForThoseForWhomOneIs(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		lesson := func(id string) Object {
			return Object{"id": id, "type": "tool", "category": "tools", "content": "Retry a failed upload twice."}
		}
		w.Ask("POST", "/v1/knowledge?lesson=true", lesson("one")).Want(http.StatusCreated)
		w.Ask("POST", "/v1/knowledge?lesson=true", []any{lesson("many")}).Want(http.StatusOK)
		one, many := w.Ask("GET", "/v1/knowledge/one", nil).JSON(), w.Ask("GET", "/v1/knowledge/many", nil).JSON()
		Same(t, one["scopes"].([]any)[0], any("public"))
		Same(t, many["scopes"], one["scopes"])
		w.Ask("POST", "/v1/knowledge?lesson=perhaps", []any{lesson("no")}).Want(http.StatusUnprocessableEntity)
	})
}
