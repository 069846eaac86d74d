package bench

import (
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress is a bar on the terminal; where nobody watches it draws nothing.
type Progress struct{ bar *progressbar.ProgressBar }

// Watch begins a bar of so many steps; -1 if nobody knows how many.
func Watch(what string, steps int) *Progress {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		return &Progress{}
	}
	return &Progress{progressbar.NewOptions(steps, progressbar.OptionSetWriter(os.Stderr),
		progressbar.OptionSetDescription(what), progressbar.OptionSetWidth(30),
		progressbar.OptionShowCount(), progressbar.OptionClearOnFinish())}
}

// Add takes note of steps made.
func (p *Progress) Add(steps int) {
	if p.bar != nil {
		_ = p.bar.Add(steps) // a bar that cannot be drawn stops nothing
	}
}

// End clears the bar.
func (p *Progress) End() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
