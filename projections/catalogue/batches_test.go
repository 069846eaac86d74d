package catalogue

import (
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
)

func TestARebuildWritesLessAtOnceWhileOthersWrite(t *testing.T) {
	t.Parallel()
	const each = 10 * time.Microsecond // a row
	b := NewBatches(database.SQLite)
	write := func(met bool) time.Duration {
		took := time.Duration(b.Rows()) * each
		b.learn(b.Rows(), took, met)
		return time.Duration(b.Rows()) * each
	}
	for range 20 {
		write(false)
	}
	if next := write(false); next < batchTime*9/10 || next > batchTime {
		t.Errorf("alone it writes for %s at once, want %s", next, batchTime)
	}
	if next := write(true); next > givingWay {
		t.Errorf("when somebody has waited it writes for %s at once, want %s at once", next, givingWay)
	}
	for written := time.Duration(0); written < aloneTime/2; {
		next := write(false)
		if next > givingWay {
			t.Fatalf("%s after somebody has waited it writes for %s at once, want %s", written, next, givingWay)
		}
		written += next
	}
	for written := time.Duration(0); written < aloneTime; {
		written += write(false)
	}
	if next := write(false); next < batchTime*9/10 {
		t.Errorf("when nobody has waited for long it writes for %s at once, want %s", next, batchTime)
	}
	if waited := b.WaitedFor(); waited == 0 || waited > batchTime {
		t.Errorf("somebody has waited for %s, want %s at most", waited, batchTime)
	}
}

func TestARebuildRecoversFromOneSlowTransactionWhileOthersWrite(t *testing.T) {
	t.Parallel()
	const each = time.Microsecond // a row
	b := NewBatches(database.SQLite)
	write := func(hiccup time.Duration) time.Duration {
		took := time.Duration(b.Rows())*each + hiccup
		b.learn(b.Rows(), took, true)
		return time.Duration(b.Rows()) * each
	}
	for range 20 {
		write(0)
	}
	if next := write(time.Second); next > givingWay/4 {
		t.Errorf("after a slow one it writes for %s at once", next)
	}
	for range 20 {
		write(0)
	}
	if next := write(0); next < givingWay*9/10 || next > givingWay {
		t.Errorf("when all is well again, and others always wait, it writes for %s at once, want %s", next, givingWay)
	}
}

func TestARebuildNeverWritesSoLittleThatItOnlyWaits(t *testing.T) {
	t.Parallel()
	b := NewBatches(database.SQLite)
	for range 20 {
		b.learn(b.Rows(), 10*time.Second, true)
	}
	if rows := b.Rows(); rows != leastRows {
		t.Errorf("got %d rows at once on a machine that is busy, want %d", rows, leastRows)
	}
	b.Limit = 3
	if rows := b.Rows(); rows != 3 {
		t.Errorf("got %d rows at once, want no more than the limit of 3", rows)
	}
}
