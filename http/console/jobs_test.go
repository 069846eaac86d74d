package console_test

import (
	"testing"
)

// onEachScreen does a job on a screen and on a phone, in English and in Chinese, on both engines, each time on a server of
// its own. In a short run, each size, each language and each engine has its turn. The hand counts clicks, taps and keys;
// what is typed into a field does not count.
func onEachScreen(t *testing.T, root string, job func(w *world, h *hand)) {
	t.Helper()
	for _, screen := range []struct {
		name, language string
		width          int
	}{
		{"screen", "en", 1280}, {"screen in Chinese", "zh", 1280}, {"phone", "en", 390}, {"phone in Chinese", "zh", 390},
	} {
		if short := screen.name == "screen" || screen.name == "phone in Chinese"; testing.Short() && !short {
			continue
		}
		t.Run(screen.name, func(t *testing.T) {
			each(t, root, func(t *testing.T, w *world) {
				h := &hand{Page: w.open("/console/login"), t: t, language: screen.language}
				h.Eval(`document.cookie = "annals-language=`+screen.language+`; path=/console/"`, nil)
				h.Size(screen.width, 800)
				job(w, h)
				var wide int
				if h.Eval("document.documentElement.scrollWidth", &wide); wide > screen.width {
					t.Errorf("%s is %d pixels wide", h.URL(), wide)
				}
				h.Axe()
			})
		})
	}
}

// says fails the test if the page lacks a text: in English, or what the console says for it in Chinese.
func (h *hand) says(selector, english, chinese string) {
	h.t.Helper()
	want := english
	if h.language == "zh" {
		want = chinese
	}
	containsAll(h.t, h.Text(selector), want)
}

// key presses keys, and counts them.
func (h *hand) key(names ...string) {
	h.t.Helper()
	h.clicks += len(names)
	h.Press(names...)
}
