package catalogue

import (
	"runtime"
	"testing"
	"testing/synctest"
)

func TestWhoeverWritesIsNotKeptFromAProcessorByReaders(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		processors, all := newProcessors(), runtime.GOMAXPROCS(0)
		written, read := make(chan struct{}), make(chan struct{})
		var readers int
		go func() {
			defer processors.Write()()
			<-written
		}()
		synctest.Wait()
		for range all + 2 {
			go func() {
				defer processors.Read()()
				readers++
				<-read
			}()
			synctest.Wait()
		}
		if want := max(1, all-1); readers != want {
			t.Errorf("%d read while one writes, want %d of %d processors", readers, want, all)
		}
		close(written)
		synctest.Wait()
		if readers != all {
			t.Errorf("%d read when nobody writes any more, want all %d processors used", readers, all)
		}
		close(read)
		synctest.Wait()
		if readers != all+2 {
			t.Errorf("%d have read in the end, want %d", readers, all+2)
		}
	})
}
