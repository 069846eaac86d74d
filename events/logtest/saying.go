package logtest

import (
	"errors"
	"slices"
	"sync"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// saying remembers a lesson under an id, unless an item got the same content after a position.
func (w *world) saying(id, lesson string, since int64) domain.Submission {
	w.Helper()
	command := w.remember(id).(domain.Remember)
	command.Knowledge.Text.Content = lesson
	command.UnlessSaidSince = &since
	return w.submission(command)
}

// sayingOnce submits the same content twenty times at once, through two logs, like two processes.
func sayingOnce(w *world) {
	logs := []*events.Log{w.log, w.newLog(w.open(w.T, w.db), events.Options{})}
	first, overtaken := 0, 0
	var counting sync.Mutex
	var submitting sync.WaitGroup
	for i := range 20 {
		s := w.saying(numbered("k", i), "Say it \"once\"? 说一遍 \\u0031 <&>\u2028\t1", 0)
		submitting.Go(func() {
			_, err := logs[i%2].Submit(w.Context(), s)
			counting.Lock()
			defer counting.Unlock()
			switch {
			case err == nil:
				first++
			case errors.Is(err, domain.ErrPrecondition):
				overtaken++
			default:
				w.Error(err)
			}
		})
	}
	submitting.Wait()
	if got := len(w.events()); first != 1 || overtaken != 19 || got != 1 {
		w.Errorf("%d were first, %d were overtaken, and there are %d events; want 1, 19 and 1", first, overtaken, got)
	}
}

// unlessSaidSince submits commands for one transaction, after others were recorded.
func unlessSaidSince(w *world) {
	old, revised := w.do(w.remember("old")).Knowledge.Text.Content, "Something else."
	w.do(w.revise("old", revised))
	w.do(w.vote("old", "t"))
	other := w.member("other")
	other.Tenant = "elsewhere"
	elsewhere := w.saying("elsewhere", revised, 0)
	elsewhere.By = other
	results := w.log.SubmitAll(w.Context(), []domain.Submission{
		w.saying("a", old, 0),     // which the first item says no more
		w.saying("b", revised, 1), // and this instead
		w.saying("c", revised, 2), // as was known
		w.saying("d", revised, 3), // c has just said so
		w.saying("e", old, 4),     // and a before
		w.saying("f", "new", 9),   // from a log that there is not
		elsewhere,
	})
	got := make([]bool, len(results))
	for i, r := range results {
		got[i] = r.Err == nil
		if r.Err != nil && !errors.Is(r.Err, domain.ErrPrecondition) && !errors.Is(r.Err, domain.ErrInvalid) {
			w.Error(r.Err)
		}
	}
	if want := []bool{true, false, true, false, true, false, true}; !slices.Equal(got, want) {
		w.Errorf("remembered %v, want %v", got, want)
	}
}
