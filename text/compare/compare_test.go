package compare_test

import (
	"testing"

	"github.com/annals-kb/annals/text/compare"
)

func TestTheRuleThatDecidesIsNamed(t *testing.T) {
	for _, c := range []struct {
		a, b string
		kind compare.Kind
		rule string
	}{
		{"Retry 429s.", "retry 429s", compare.Duplicate, compare.SameText},
		{"checkout-api is deployed on Tuesdays.", "checkout-api: deployment on Tuesday", compare.Duplicate, compare.Paraphrase},
		{"checkout-api retries 3 times.", "checkout-api retries five times.", compare.Contradiction, compare.Number},
		{"The timeout of billing-api is 30 s.", "The timeout of billing-api is half a minute: 30 seconds", compare.Duplicate, compare.Paraphrase},
		{"支付服务的超时时间是30秒", "支付服务的超时时间是60秒", compare.Contradiction, compare.Number},
		{"支付服务每周二下午两点发布", "支付服务每周四下午两点发布", compare.Contradiction, compare.Time},
		{"Deploy the shop on Monday at 14:00", "Deploy the shop on Monday at 2 pm", compare.Duplicate, compare.Paraphrase},
		{"The freeze begins on 3 March", "The freeze begins on March 5", compare.Contradiction, compare.Date},
		{"The build uses Go 1.26", "The build uses Go 1.25", compare.Contradiction, compare.Version},
		{"Never squash commits on main", "Squash commits on main", compare.Contradiction, compare.Negation},
		{"不要在周五部署", "周五可以部署", compare.Contradiction, compare.Negation},
		{"Enable compression for the logs", "Disable compression for the logs", compare.Contradiction, compare.Polarity},
		{"billing-api retries 3 times.", "checkout-api retries 5 times.", compare.Unrelated, compare.OtherSubject},
		{"In staging, the timeout is 5 s", "In production, the timeout is 30 s", compare.Unrelated, compare.OtherSubject},
		{"Never deploy on Friday", "Never deploy on Saturday", compare.Unrelated, compare.OtherAspect},
		{"Step 3: drain the node", "Step 4: drain the node", compare.Unrelated, compare.OtherSubject},
		{"The cat sleeps", "Kafka keeps messages for 7 days", compare.Unrelated, ""},
		{"", "", compare.Duplicate, compare.SameText},
	} {
		got := compare.Items(compare.Item{Content: c.a}, compare.Item{Content: c.b}, compare.Unknown)
		if got.Kind != c.kind || got.Rule != c.rule {
			t.Errorf("%q and %q: %s by %q (%.2f), want %s by %q", c.a, c.b, got.Kind, got.Rule, got.Score, c.kind, c.rule)
		}
		back := compare.Items(compare.Item{Content: c.b}, compare.Item{Content: c.a}, compare.Unknown)
		if back != got {
			t.Errorf("%q and %q: %+v, the other way round %+v", c.a, c.b, got, back)
		}
	}
}
