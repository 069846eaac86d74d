package console_test

import "testing"

func TestShortcutsActAfterTheListOfKeysIsClosed(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		p := w.open("/console/")
		p.Press("?")
		p.Click("#keys form button")
		p.Press("g", "l")
		p.WaitFor("main #events")
		p.Press("?", "Escape", "g", "k")
		p.WaitFor("main .browse")
	})
}
