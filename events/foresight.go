package events

import (
	"reflect"

	"github.com/annals-kb/annals/domain"
)

// written is a fact written down: the bytes that are recorded, and the fact as it is read back from them,
// so that what is folded now is what is folded whenever the log is read.
type written struct {
	Payload
	fact             domain.Fact
	salt, commitment []byte // nil without a text
}

func write(fact domain.Fact) (w written, err error) {
	if w.Payload, err = Encode(fact); err != nil {
		return w, err
	}
	if w.fact, err = Decode(w.Payload); err != nil {
		return w, err
	}
	if w.Text != nil {
		w.salt, w.commitment = commitText(w.Text)
	}
	return w, nil
}

// foresight is a fact that was written down ahead of its decision, on the goroutine of a caller, of whom there
// are many: while a command is decided, everybody waits.
type foresight struct {
	fact domain.Fact
	written
}

// foresee writes down what a command says it will come to; nil if it does not say.
func foresee(command domain.Command) *foresight {
	foreseeing, can := command.(domain.Predictable)
	if !can {
		return nil
	}
	fact := foreseeing.ExpectedFact()
	w, err := write(fact)
	if err != nil {
		return nil // if it is decided nevertheless, that fails
	}
	return &foresight{fact, w}
}

// write writes down what was decided, unless that was foreseen.
func (f *foresight) write(fact domain.Fact) (written, error) {
	if f != nil && reflect.DeepEqual(f.fact, fact) {
		return f.written, nil
	}
	return write(fact)
}
