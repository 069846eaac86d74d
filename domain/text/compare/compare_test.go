package compare_test

import (
	"strings"
	"testing"

	"github.com/annals-kb/annals/domain/text/compare"
)

func TestTheRuleThatDecidesIsNamed(t *testing.T) {
	long := strings.Repeat("Retry later. ", 400)
	for _, c := range []struct {
		a, b string
		kind compare.Kind
		rule string
	}{
		{"Retry 429s.", "retry 429s", compare.Duplicate, compare.SameText},
		{"checkout-api is deployed on Tuesdays.", "checkout-api: deployment on Tuesday", compare.Duplicate, compare.Paraphrase},
		{"checkout-api retries 3 times.", "checkout-api retries five times.", compare.Contradiction, compare.Number},
		{"The timeout of billing-api is 30 s.", "billing-api: timeout of 30 seconds", compare.Duplicate, compare.Paraphrase},
		{"支付服务的超时时间是30秒", "支付服务的超时时间是60秒", compare.Contradiction, compare.Number},
		{"支付服务每周二下午两点发布", "支付服务每周四下午两点发布", compare.Contradiction, compare.Time},
		{"Deploy the shop on Monday at 14:00", "Deploy the shop on Monday at 2 pm", compare.Duplicate, compare.Paraphrase},
		{"The freeze begins on 3 March", "The freeze begins on March 5", compare.Contradiction, compare.Date},
		{"The build uses Go 1.26", "The build uses Go 1.25", compare.Contradiction, compare.Version},
		{"Never squash commits on main", "Squash commits on main", compare.Contradiction, compare.Negation},
		{"不要在周五部署", "周五可以部署", compare.Contradiction, compare.Negation},
		{"Enable compression for the logs", "Disable compression for the logs", compare.Contradiction, compare.Polarity},
		{"退款接口必须带幂等键", "退款接口不必带幂等键", compare.Contradiction, compare.Polarity},
		{"退款接口要带幂等键", "退款接口无需带幂等键", compare.Contradiction, compare.Polarity},
		{"No ticket is needed for the logs", "For the logs, a ticket is optional", compare.Duplicate, compare.Paraphrase},
		{"数据库端口必须是 6380", "数据库端口是 6379", compare.Contradiction, compare.Number},
		{"Deploy the shop on Tuesdays", "Deploying the shop needs two approvals", compare.Unrelated, compare.OtherAspect},
		{"billing-api retries 3 times.", "checkout-api retries 5 times.", compare.Unrelated, compare.OtherSubject},
		{"In staging, the timeout is 5 s", "In production, the timeout is 30 s", compare.Unrelated, compare.OtherSubject},
		{"Never deploy on Friday", "Never deploy on Saturday", compare.Unrelated, compare.OtherAspect},
		{"Step 3: drain the node", "Step 4: drain the node", compare.Unrelated, compare.OtherSubject},
		{"Сервис оплаты перезапускается ночью.", "сервис оплаты  перезапускается ночью", compare.Duplicate, compare.SameText},
		{"Сервис оплаты работает на Redis", "Отчёты хранятся в Redis", compare.Unrelated, ""},
		{"결제 서비스는 화요일에 배포됩니다", "보고서는 금요일에 보냅니다", compare.Unrelated, ""},
		{"リリースはかようびです", "レポートはきんようびです", compare.Unrelated, ""},
		{"The parser is written in C++", "The parser is written in C#", compare.Contradiction, compare.Symbol},
		{"Keep the latency < 50 ms", "Keep the latency > 50 ms", compare.Contradiction, compare.Symbol},
		{"A seat costs ￥100", "A seat costs $100", compare.Contradiction, compare.Symbol},
		{"The freezer runs at -20 degrees", "The freezer runs at 20 degrees", compare.Contradiction, compare.Number},
		{"The check-out is at 10:00-11:00", "check-out: 10:00 to 11:00", compare.Duplicate, compare.Paraphrase},
		{"站会上午十点半开始", "站会上午十点开始", compare.Contradiction, compare.Time},
		{"站会上午十点半开始", "站会 10:30 开始", compare.Duplicate, compare.Paraphrase},
		{"审计日志保留一千天", "审计日志保留两千天", compare.Contradiction, compare.Number},
		{"队列上限是一万二千条", "队列上限是 12,000 条", compare.Duplicate, compare.Paraphrase},
		{"缓存有效期是半小时", "缓存有效期是30分钟", compare.Duplicate, compare.Paraphrase},
		{long + "one", long + "two", compare.Unrelated, ""},
		{"The cat sleeps", "Kafka keeps messages for 7 days", compare.Unrelated, ""},
		{"The owner of checkout is Mia", "The owner of checkout is Ben", compare.Contradiction, compare.Owner},
		{"", "", compare.Duplicate, compare.SameText},
	} {
		got := compare.Items(compare.Item{Content: c.a}, compare.Item{Content: c.b})
		if got.Kind != c.kind || got.Rule != c.rule {
			t.Errorf("%q and %q: %s by %q (%.2f), want %s by %q", c.a, c.b, got.Kind, got.Rule, got.Score, c.kind, c.rule)
		}
		back := compare.Items(compare.Item{Content: c.b}, compare.Item{Content: c.a})
		if back != got {
			t.Errorf("%q and %q: %+v, the other way round %+v", c.a, c.b, got, back)
		}
	}
}

func TestTheTaskIsPartOfWhatIsSaid(t *testing.T) {
	owner := compare.Item{Task: "Owner of checkout", Content: "Mia"}
	for task, want := range map[string]compare.Kind{
		"owner of checkout": compare.Duplicate, "On-call of billing": compare.Unrelated,
	} {
		got := compare.Items(owner, compare.Item{Task: task, Content: "Mia"})
		if got.Kind != want {
			t.Errorf("%q: got %+v, want %s", task, got, want)
		}
	}
}
