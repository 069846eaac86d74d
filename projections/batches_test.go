package projections

import (
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/projections/catalogue"
)

func TestARebuildWritesLessAtOnceWhileOthersWrite(t *testing.T) {
	t.Parallel()
	const each = 10 * time.Microsecond // a row
	b := catalogue.NewBatches(database.SQLite)
	write := func(met bool) time.Duration {
		took := time.Duration(b.Rows()) * each
		b.Learn(b.Rows(), took, met)
		return time.Duration(b.Rows()) * each
	}
	for range 20 {
		write(false)
	}
	if next := write(false); next < catalogue.BatchTime*9/10 || next > catalogue.BatchTime {
		t.Errorf("alone it writes for %s at once, want %s", next, catalogue.BatchTime)
	}
	if next := write(true); next > catalogue.GivingWay {
		t.Errorf("when somebody has waited it writes for %s at once, want %s at once", next, catalogue.GivingWay)
	}
	for written := time.Duration(0); written < catalogue.Alone/2; {
		next := write(false)
		if next > catalogue.GivingWay {
			t.Fatalf("%s after somebody has waited it writes for %s at once, want %s", written, next, catalogue.GivingWay)
		}
		written += next
	}
	for written := time.Duration(0); written < catalogue.Alone; {
		written += write(false)
	}
	if next := write(false); next < catalogue.BatchTime*9/10 {
		t.Errorf("when nobody has waited for long it writes for %s at once, want %s", next, catalogue.BatchTime)
	}
	if waited := b.WaitedFor(); waited == 0 || waited > catalogue.BatchTime {
		t.Errorf("somebody has waited for %s, want %s at most", waited, catalogue.BatchTime)
	}
}

func TestARebuildRecoversFromOneSlowTransactionWhileOthersWrite(t *testing.T) {
	t.Parallel()
	const each = time.Microsecond // a row
	b := catalogue.NewBatches(database.SQLite)
	write := func(hiccup time.Duration) time.Duration {
		took := time.Duration(b.Rows())*each + hiccup
		b.Learn(b.Rows(), took, true)
		return time.Duration(b.Rows()) * each
	}
	for range 20 {
		write(0)
	}
	if next := write(time.Second); next > catalogue.GivingWay/4 {
		t.Errorf("after a slow one it writes for %s at once", next)
	}
	for range 20 {
		write(0)
	}
	if next := write(0); next < catalogue.GivingWay*9/10 || next > catalogue.GivingWay {
		t.Errorf("when all is well again, and others always wait, it writes for %s at once, want %s", next, catalogue.GivingWay)
	}
}

func TestARebuildNeverWritesSoLittleThatItOnlyWaits(t *testing.T) {
	t.Parallel()
	b := catalogue.NewBatches(database.SQLite)
	for range 20 {
		b.Learn(b.Rows(), 10*time.Second, true)
	}
	if rows := b.Rows(); rows != catalogue.LeastRows {
		t.Errorf("got %d rows at once on a machine that is busy, want %d", rows, catalogue.LeastRows)
	}
	b.Limit = 3
	if rows := b.Rows(); rows != 3 {
		t.Errorf("got %d rows at once, want no more than the limit of 3", rows)
	}
}
