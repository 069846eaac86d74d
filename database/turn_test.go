package database

import (
	"slices"
	"testing"
	"testing/synctest"
)

func TestTurnsAreTakenInTheOrderTheyWereAskedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turn := newTurn()
		first, err := turn.take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var served, asked []int
		for i := range 100 {
			asked = append(asked, i)
			go func() {
				done, err := turn.take(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				served = append(served, i)
				done()
			}()
			synctest.Wait() // it stands in the queue
		}
		first()
		synctest.Wait()
		if !slices.Equal(served, asked) {
			t.Errorf("got %v, want %v", served, asked)
		}
		if waited := turn.waited.Load(); waited != 100 {
			t.Errorf("%d have waited, want 100 and not the first", waited)
		}
	})
}

func TestWhoWaitsForUpkeepHasNotMetAnybody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turn := newTurn()
		finish := func(done func(), err error) {
			if err != nil {
				t.Error(err)
				return
			}
			done()
		}
		copied, err := turn.takeForUpkeep(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		go func() { finish(turn.take(t.Context())) }()
		synctest.Wait()
		copied()
		synctest.Wait()
		if waited := turn.waited.Load(); waited != 0 {
			t.Errorf("%d have waited for somebody who writes, want none: the database was at its upkeep", waited)
		}

		written, err := turn.take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		go func() { finish(turn.takeForUpkeep(t.Context())) }()
		synctest.Wait()
		written()
		synctest.Wait()
		if waited := turn.waited.Load(); waited != 0 {
			t.Errorf("%d have waited, want none: it was the database's upkeep that did", waited)
		}

		finish(turn.takeForUpkeep(t.Context()))
		written, err = turn.take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		go func() { finish(turn.take(t.Context())) }()
		synctest.Wait()
		written()
		synctest.Wait()
		if waited := turn.waited.Load(); waited != 1 {
			t.Errorf("%d have waited for somebody who writes, want 1", waited)
		}
	})
}
