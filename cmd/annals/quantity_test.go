package main

import "testing"

func TestQuantitiesReadAsPeopleSayThem(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		counted(0): "0", counted(999): "999", counted(1000): "1,000", counted(1234567): "1,234,567", counted(-1234): "-1,234", counted(-123): "-123",
		bytesOf(0): "0 B", bytesOf(1023): "1023 B", bytesOf(1536): "1.5 KB", bytesOf(20 << 20): "20 MB", bytesOf(3 << 40): "3.0 TB",
		lasting(0.2): "a second", lasting(12.4): "12 s", lasting(150): "2 min", lasting(10800): "3 h",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
