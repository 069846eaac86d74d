package text_test

import (
	"strings"
	"testing"

	"github.com/annals-kb/annals/text"
)

func TestWhatIsShortIsBriefAlready(t *testing.T) {
	t.Parallel()
	short := "# Retries\n\n* wait\n* try again"
	if got := text.Brief(short); got != short {
		t.Errorf("got %q, want %q", got, short)
	}
	for _, sentence := range []string{"Wait, and try again after a minute. ", "先等一分钟,再重新尝试。"} {
		long := strings.Repeat(sentence, 100)
		if got := text.Brief(long); !strings.HasPrefix(got, strings.TrimSpace(sentence)) || text.Tokens(got) > text.AbstractTokens {
			t.Errorf("got %q, %d tokens", got, text.Tokens(got))
		}
	}
}
