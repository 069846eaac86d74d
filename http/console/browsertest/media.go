package browsertest

import (
	"context"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// Dark says whether the reader prefers dark colours.
func (p *Page) Dark(dark bool) {
	p.t.Helper()
	p.prefer("prefers-color-scheme", map[bool]string{false: "light", true: "dark"}[dark])
}

// ForcedColours says that the reader's system chooses the colours.
func (p *Page) ForcedColours() {
	p.t.Helper()
	p.prefer("forced-colors", "active")
}

// prefer sets one medium's feature. The reader always prefers reduced motion, so that no test waits for it.
func (p *Page) prefer(name, value string) {
	p.t.Helper()
	run(p, "prefer "+name+" "+value, chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: name, Value: value}, {Name: "prefers-reduced-motion", Value: "reduce"}},
		})
		return err
	}))
}
