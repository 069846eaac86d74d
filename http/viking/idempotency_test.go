package viking_test

import (
	"testing"
)

func TestARepeatedRequestToASessionHappensOnce(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		key := func(k string) header { return header("Idempotency-Key: " + k) }
		var id string
		for range 2 {
			id = w.ask("POST", sessionsPath, nil, key("open")).object()["session_id"].(string)
		}
		one, said := sessionsPath+"/"+id, `{"role":"user","content":"I prefer tabs for indentation."}`
		for range 3 {
			like(t, w.ask("POST", one+"/messages", said, key("say")).object(), object{"message_count": 1.0})
		}
		like(t, w.ask("POST", one+"/messages", said, key("again")).object(), object{"message_count": 2.0})
		first := w.ask("POST", one+"/commit", `{}`, key("commit")).object()
		second := w.ask("POST", one+"/commit", `{}`, key("commit")).object()
		like(t, second, object{"archived": true, "task_id": first["task_id"], "archive_uri": first["archive_uri"]}, first)
		w.ask("POST", one+"/messages", `{"role":"user","content":"something else"}`, key("say")).invalid()
		w.ask("POST", one+"/messages", said, key("with a space")).invalid()
	})
}
