package review

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestAnIndexFindsTheNewestItemsAndForgetsTheOldest(t *testing.T) {
	t.Parallel()
	x, key := &index{}, entry("team:pay", "memory", 7)
	var want []int64
	for number := range int64(4000) {
		x.add([]uint64{key | uint64(number), entry("team:pay", "memory", uint64(number)) | uint64(number)})
		want = slices.Insert(want, 0, number)
	}
	if got := x.newest(key, 5); !slices.Equal(got, want[:5]) {
		t.Errorf("got %d, want the newest", got)
	}
	for i, run := range x.runs {
		if !slices.IsSorted(run) || i > 0 && 2*len(run) > len(x.runs[i-1]) {
			t.Errorf("run %d has %d entries", i, len(run))
		}
	}
	x.forgetOldest()
	if got := x.newest(key, 9999); len(got) < 2500 || len(got) > 3500 || !slices.Equal(got, want[:len(got)]) {
		t.Errorf("%d items are left", len(got))
	}
	if got := x.newest(entry("team:ops", "memory", 7), 5); got != nil {
		t.Errorf("in another scope, there are %d", got)
	}
}

func TestIndexesOfTenantsThatAreNotUsedAreForgottenFirst(t *testing.T) {
	t.Parallel()
	var x indexes
	for i := range 3 {
		own, _ := x.of(fmt.Sprint("tenant-", i))
		own.runs = [][]uint64{make([]uint64, mostEntries/2)}
		time.Sleep(time.Millisecond)
	}
	x.of("tenant-0")
	last, _ := x.of("tenant-2")
	x.add(last, nil)
	if _, kept := x.all["tenant-1"]; kept || len(x.all) != 2 {
		t.Errorf("%d indexes are left", len(x.all))
	}
}
