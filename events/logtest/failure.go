package logtest

import (
	"context"
	"errors"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// failureLeavesNothing makes the database refuse one item's events in the middle of a batch.
func failureLeavesNothing(w *world) {
	w.refuse("poison")
	w.betweenGoodOnes()
}

// failedCommit makes the database refuse them at COMMIT.
func failedCommit(w *world) {
	w.refuseAtCommit("poison")
	w.betweenGoodOnes()
}

// betweenGoodOnes submits an item that the database refuses between others, and alone.
func (w *world) betweenGoodOnes() {
	w.Helper()
	results := w.log.SubmitAll(w.Context(), []domain.Submission{
		w.keyed(w.remember("good"), "good", 1), w.keyed(w.remember("poison"), "poison", 1),
		w.keyed(w.remember("better"), "better", 1),
	})
	_, alone := w.log.Submit(w.Context(), w.submission(w.remember("poison")))
	for _, err := range []error{results[1].Err, alone} {
		if err == nil || errors.Is(err, domain.ErrUnavailable) || errors.Is(err, database.ErrOutcomeUnknown) {
			w.Errorf("got %v, want the database's refusal", err)
		}
	}
	for _, i := range []int{0, 2} {
		if results[i].Err != nil {
			w.Errorf("%d: %v", i, results[i].Err)
		}
	}
	if got := results[2].Receipt.Position; got != 2 {
		w.Errorf("got position %d, want 2", got)
	}
	if got := len(w.events()); got != 2 {
		w.Errorf("got %d events, want 2", got)
	}
	for table, want := range map[string]int{"events": 2, "event_texts": 2, "requests": 2} {
		if got := w.count(table); got != want {
			w.Errorf("%s: got %d rows, want %d", table, got, want)
		}
	}
	if k := w.do(w.remember("poison-free")).Knowledge; !k.Exists() {
		w.Error("the log does not go on")
	}
}

func (w *world) count(table string) int {
	w.Helper()
	var n int
	if err := w.db.QueryRowContext(w.Context(), `SELECT count(*) FROM ?`, bun.Ident(table)).Scan(&n); err != nil {
		w.Fatal(err)
	}
	return n
}

func (w *world) exec(statements ...string) {
	w.Helper()
	err := w.db.Transact(w.Context(), func(ctx context.Context, tx bun.Tx) error {
		for _, statement := range statements {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		w.Fatal(err)
	}
}

// refuse makes the insertion of an item's events an error.
func (w *world) refuse(id string) {
	w.Helper()
	if w.db.Engine == database.SQLite {
		w.exec(`
			CREATE TRIGGER refuse BEFORE INSERT ON events
			WHEN NEW.stream = 'knowledge:` + id + `'
			BEGIN SELECT RAISE(ABORT, 'refused by the test'); END`)
		return
	}
	w.exec(`
		CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN RAISE EXCEPTION 'refused by the test'; END $$`, `
		CREATE TRIGGER refuse BEFORE INSERT ON events
		FOR EACH ROW WHEN (NEW.stream = 'knowledge:`+id+`')
		EXECUTE FUNCTION refuse()`)
}

// refuseAtCommit makes it an error that is found only at COMMIT.
func (w *world) refuseAtCommit(id string) {
	w.Helper()
	w.exec(`CREATE TABLE fish (id integer PRIMARY KEY)`,
		`CREATE TABLE bait (id integer REFERENCES fish (id) DEFERRABLE INITIALLY DEFERRED)`)
	if w.db.Engine == database.SQLite {
		w.exec(`
			CREATE TRIGGER refuse AFTER INSERT ON events
			WHEN NEW.stream = 'knowledge:` + id + `'
			BEGIN INSERT INTO bait VALUES (404); END`)
		return
	}
	w.exec(`
		CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN INSERT INTO bait VALUES (404); RETURN NULL; END $$`, `
		CREATE TRIGGER refuse AFTER INSERT ON events
		FOR EACH ROW WHEN (NEW.stream = 'knowledge:`+id+`')
		EXECUTE FUNCTION refuse()`)
}

func panicFailsAlone(w *world) {
	results := w.log.SubmitAll(w.Context(), []domain.Submission{
		w.submission(w.remember("a")),
		w.submission(decision{id: "b", decide: func(domain.DecisionContext) ([]domain.Fact, error) { panic("a bug") }}),
		w.submission(w.remember("c")),
	})
	if results[0].Err != nil || results[1].Err == nil || results[2].Err != nil {
		w.Errorf("got %v, %v, %v, want an error in the middle", results[0].Err, results[1].Err, results[2].Err)
	}
	if got := len(w.events()); got != 2 {
		w.Errorf("got %d events, want 2", got)
	}
}

func unwritable(w *world) {
	tooFar := domain.Origin{ReasonCode: string(make([]byte, 3))}
	for name, s := range map[string]domain.Submission{
		"NUL in the envelope": {By: w.by, Command: w.remember("a"), Origin: tooFar},
		"key without text":    w.keyed(w.remember("b"), "", 1),
	} {
		if _, err := w.log.Submit(w.Context(), s); !errors.Is(err, domain.ErrInvalid) {
			w.Errorf("%s: got %v, want %v", name, err, domain.ErrInvalid)
		}
	}
	if _, err := w.log.Submit(w.Context(), domain.Submission{Command: w.remember("c")}); err == nil {
		w.Error("a command of nobody was taken")
	}
	if got := len(w.events()); got != 0 {
		w.Errorf("got %d events, want none", got)
	}
}
