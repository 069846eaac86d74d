package domain

import "fmt"

// Stream is the state of one stream that is not about knowledge. A stream without facts has version 0 and no state.
type Stream struct {
	Name     string // such as "session:USER/ID"
	Version  int64  // of its newest event
	Position int64  // of its newest event
	State    State
}

// State is folded from the facts of one stream. It is an immutable value: Evolve returns a new one. It contains no
// texts, so erasing a text never changes it.
//
// Every append to a stream reads and writes its state, so a state must not grow with its stream.
type State interface {
	// Evolve is the state after one more fact. Facts come in order of their versions, each once. It returns an error
	// if the fact cannot follow.
	Evolve(fact Fact, at EventMetadata) (State, error)
}

// Evolve folds one fact into the stream. Facts must come in order of their versions, each once. An
// error leaves the stream as it was.
func (s *Stream) Evolve(fact Fact, at EventMetadata) error {
	if at.Version != s.Version+1 {
		return fmt.Errorf("fold %s: version %d follows %d", fact.Name(), at.Version, s.Version)
	}
	state := s.State
	switch fact.(type) {
	case Redacted, TextsErased: // a state has no texts
	default:
		var err error
		if state, err = s.State.Evolve(fact, at); err != nil {
			return fmt.Errorf("fold %s as version %d: %w", fact.Name(), at.Version, err)
		}
	}
	s.Version, s.Position, s.State = at.Version, at.Position, state
	return nil
}

// Exists tells whether anything was ever recorded in the stream.
func (s Stream) Exists() bool { return s.Version > 0 }

// StateOf is the state of a stream; the zero value if there is no such stream.
func StateOf[S State](dc DecisionContext, stream string) S {
	state, _ := dc.Stream(stream).State.(S)
	return state
}
