package text

import "testing"

func TestASlipIsNearTheNameThatItMisspells(t *testing.T) {
	t.Parallel()
	known := []string{"type", "owner", "category", "scope"}
	for name, want := range map[string]string{
		"typ": "type", "onwer": "owner", "catgory": "category", "scope": "scope", "http": "", "": "",
	} {
		if got := Nearest(name, known); got != want {
			t.Errorf("%q is taken for %q, want %q", name, got, want)
		}
	}
}
