package operate_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/operate"
	. "github.com/annals-kb/annals/http/servertest"
)

func TestATestOfTheSettingsSaysWhichModelAnswers(t *testing.T) {
	configure := func(_ *World, cfg *Config) {
		model := func(name string, try func(context.Context) (int, error)) operate.Model {
			return operate.Model{Model: api.Model{Name: name, Model: "some " + name}, Try: try}
		}
		cfg.Settings = api.Settings{File: "annals.yaml", Items: []api.Setting{
			{Name: "rate", Value: "7", Origin: "ANNALS_RATE", Variable: "ANNALS_RATE", Group: "limits", Help: "Requests a second."},
		}}
		cfg.Models = []operate.Model{
			model("embedding", func(context.Context) (int, error) { return 384, nil }),
			model("embedding-previous", func(context.Context) (int, error) { return 0, errors.New("no such host") }),
			model("llm", nil),
		}
	}
	EachWith(t, configure, func(t *testing.T, w *World) {
		shown := w.Ask("GET", "/v1/settings", nil).Want(http.StatusOK)
		Like(t, shown.JSON(), Object{"file": "annals.yaml", "items": []any{
			Object{"name": "rate", "value": "7", "origin": "ANNALS_RATE", "help": "Requests a second.", "group": "limits"},
			Object{"name": "learned-for", "value": "shared", "origin": "default"},
		}, "models": []any{Object{"name": "embedding", "model": "some embedding"}, Object{"name": "embedding-previous"}, Object{"name": "llm"}}})
		tested := w.Ask("POST", "/v1/settings/test", nil).Want(http.StatusOK)
		Like(t, tested.JSON(), Object{"items": []any{
			Object{"name": "embedding", "ok": true, "dims": 384.0}, Object{"ok": false, "error": "no such host"}, Object{"name": "llm", "ok": true},
		}})
	})
}
