package terminal

import (
	"testing"

	"github.com/annals-kb/annals/http/servertest"
)

func TestQuantitiesReadAsPeopleSayThem(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		Counted(0): "0", Counted(999): "999", Counted(1000): "1,000", Counted(1234567): "1,234,567",
		Counted(-1234): "-1,234", Counted(-123): "-123",
		BytesOf(0): "0 B", BytesOf(1023): "1023 B", BytesOf(1536): "1.5 KB", BytesOf(20 << 20): "20 MB",
		BytesOf(3 << 40): "3.0 TB",
		Lasting(0.2):     "a second", Lasting(12.4): "12 s", Lasting(150): "2 min", Lasting(10800): "3 h",
	} {
		servertest.Same(t, got, want)
	}
}
