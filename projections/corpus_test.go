package projections_test

import (
	"math/rand/v2"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// Knowledge is written in English, Chinese and code, often in all of them at once.
var (
	english = strings.Fields(`payment retry backoff invoice customer deploy server rollback database migration index
		query slow cache timeout login token password session user profile prefers dark theme editor keyboard meeting
		report budget travel hotel flight weather garden recipe tomato soup doctor appointment insurance contract
		lawyer review merge branch conflict test failing flaky build pipeline release version customer refund`)
	chinese = strings.Fields(`用户偏好 类型安全 数据库迁移 编码风格 会议纪要 部署流程 支付失败 重试策略 缓存失效 登录超时
		项目计划 代码评审 深色主题 知识管理 团队协作 错误处理 性能优化 日志分析 天气很好 今天晚上 机器学习 模型训练`)
	code = strings.Fields(`getUserByID parse_config http.Handler context.Context err!=nil SELECT-*-FROM kubectl/apply
		max_connections NewServer() v1.26.3 /etc/annals.toml --dry-run ECONNRESET foo::bar TypeScript JavaScript`)
)

// scopes of every tier; everybody in these tests is one of them.
var scopes = []domain.Scope{
	"user:alice", "user:bob", "project:456", "project:789", "agent:bot", "team:pay", "team:web", "org:acme", domain.Public,
}

// corpus makes up text, the same for the same seed.
type corpus struct{ *rand.Rand }

func newCorpus(seed uint64) corpus { return corpus{rand.New(rand.NewPCG(seed, 1))} }

// word is one of a language's; the first ones are common.
func (c corpus) word(words []string) string {
	i := min(c.IntN(len(words)), c.IntN(len(words)))
	return words[i]
}

// sentence is some words of one language, or of all.
func (c corpus) sentence() string {
	length := 3 + c.IntN(20)
	var words []string
	kind := c.IntN(5)
	for range length {
		switch {
		case kind < 2 || kind == 4 && c.IntN(2) == 0:
			words = append(words, c.word(english))
		case kind == 2 || kind == 4 && c.IntN(2) == 0:
			words = append(words, c.word(chinese))
		default:
			words = append(words, c.word(code))
		}
	}
	return strings.Join(words, " ")
}

// question asks about some of what a text says, and something else.
func (c corpus) question(about string) string {
	words := strings.Fields(about)
	asked := []string{c.word(english)}
	for range 1 + c.IntN(4) {
		asked = append(asked, words[c.IntN(len(words))])
	}
	return strings.Join(asked, " ")
}

// audience is one to four scopes.
func (c corpus) audience() []domain.Scope {
	n := 1 + c.IntN(4)
	chosen := make([]domain.Scope, 0, n)
	for _, i := range c.Perm(len(scopes))[:n] {
		chosen = append(chosen, scopes[i])
	}
	return chosen
}

func pick[T any](c corpus, values []T) T { return values[c.IntN(len(values))] }
