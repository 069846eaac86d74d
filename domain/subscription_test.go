package domain_test

import (
	"testing"

	"github.com/annals-kb/annals/domain"
)

func TestAWebhookTakesWhatFollowsItsCreationExceptDuringItsPause(t *testing.T) {
	t.Parallel()
	var s domain.State = domain.Subscription{}
	for i, fact := range []domain.Fact{
		domain.SubscriptionCreated{Webhook: true}, domain.SubscriptionPaused{}, domain.SubscriptionResumed{},
	} {
		var err error
		if s, err = s.Evolve(fact, domain.EventMetadata{Version: int64(i + 1), Position: int64(10 * (i + 1))}); err != nil {
			t.Fatal(err)
		}
	}
	webhook, _ := s.(domain.Subscription)
	for position, want := range map[int64]bool{9: false, 10: false, 11: true, 19: true, 21: false, 29: false, 31: true} {
		if got := webhook.Takes(position); got != want {
			t.Errorf("takes the event at %d: %t, want %t", position, got, want)
		}
	}
}
