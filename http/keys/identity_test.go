package keys

import "testing"

func TestOpenModeAnswersToThisMachinesNamesOnly(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"localhost": true, "localhost:1933": true, "127.0.0.1:1933": true, "[::1]:1933": true, "::1": true,
		"annals": true, "annals:1933": true, "kb.localhost": true, "host.docker.internal:1933": true, "": true,
		"evil.example": false, "evil.example:1933": false, "localhost.evil.example": false,
		"127.0.0.1.evil.example": false, "evil.example.": false,
	} {
		if got := local(host); got != want {
			t.Errorf("%q: %t", host, got)
		}
	}
}
