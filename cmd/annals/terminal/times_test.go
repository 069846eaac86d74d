package terminal

import (
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/servertest"
)

func TestTimesMayCountBackFromNow(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 9, 30, 0, 0, time.FixedZone("", 3600))
	for value, want := range map[string]string{
		"yesterday": "2026-02-28T00:00:00+01:00", "-2d": "2026-02-27T09:30:00+01:00", "2h ago": "2026-03-01T07:30:00+01:00",
		"1h30m ago": "2026-03-01T08:00:00+01:00", "2h": "", "-2": "", "--2d": "", "ago": "", " ago": "",
		"today": "2026-03-01T00:00:00+01:00", "5 minutes ago": "2026-03-01T09:25:00+01:00",
		"A month ago": "2026-02-01T09:30:00+01:00",
	} {
		at, _, err := domain.ParseTime(value, now)
		if is := err == nil; is != (want != "") || is && at.Format(time.RFC3339) != want {
			t.Errorf("%q: %s, %v, want %q", value, at.Format(time.RFC3339), err, want)
		}
	}
	args := []string{"list", "--created-from", "-2d", "-n", "2", "--as-of=-1h", "-5m"}
	want := []string{"list", "--created-from=-2d", "-n", "2", "--as-of=-1h", "-5m"}
	servertest.Same(t, TimesAsValues(args), want)
}

func TestAPrintedTimeNamesItsZoneAndIsAccepted(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 9, 30, 15, 0, time.FixedZone("", -5*3600))
	for _, printed := range []string{at.Format(shownTime), at.UTC().Format(shownTime), Moment(at)} {
		if got, err := readTime(printed); err != nil || !got.Equal(at) {
			t.Errorf("%s: %s, %v", printed, got, err)
		}
	}
}
