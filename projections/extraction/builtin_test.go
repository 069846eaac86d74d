package extraction_test //nolint:lll // tables of test data

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/extraction"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

func text(s string) []domain.Part { return []domain.Part{{Type: domain.PartText, Text: s}} }

// talk is a conversation whose messages are said by the user, or after "a:" by the assistant.
func talk(lines ...string) extraction.Conversation {
	c := extraction.Conversation{Session: "s1"}
	for i, line := range lines {
		m := extraction.Message{EventID: fmt.Sprintf("00000000-0000-7000-8000-%012d", i), Role: domain.RoleUser, Parts: text(line)}
		if rest, is := strings.CutPrefix(line, "a:"); is {
			m.Role, m.Parts = domain.RoleAssistant, text(strings.TrimSpace(rest))
		}
		c.Messages = append(c.Messages, m)
	}
	return c
}

func extract(t *testing.T, c extraction.Conversation) extraction.Result {
	t.Helper()
	found := Must(extraction.BuiltIn{}.Extract(t.Context(), c))(t)
	return found
}

func TestWhatIsStatedOutrightIsFound(t *testing.T) {
	t.Parallel()
	for sentence, want := range map[string]string{
		"I prefer tabs over spaces for indentation.":      "preferences indentation",
		"Please always answer in English.":                "preferences english",
		"From now on, use PostgreSQL.":                    "preferences ",
		"My favorite editor is vim":                       "preferences ",
		"我喜欢用 TypeScript 写代码":                             "preferences ",
		"以后请用中文回答。":                                       "preferences ",
		"用户偏好使用 TypeScript 而非 JavaScript,注重类型安全":          "preferences ",
		"My name is Mia.":                                 "profile name",
		"I live in Berlin.":                               "profile home",
		"I work as a nurse.":                              "profile job",
		"我是一名后端工程师":                                       "profile job",
		"我住在上海":                                           "profile home",
		"We decided to use Kafka.":                        "events ",
		"我们决定下周上线新版本":                                     "events ",
		"Our project uses Bazel.":                         "entities ",
		"Remember that the staging port is 8443.":         "entities ",
		"记住：测试环境端口是 8443":                                 "entities ",
		"Actually, the port is 9443.":                     "entities  correction",
		"No, I no longer like tabs, I prefer spaces now.": "preferences  correction",
		"Also I use zsh, not bash.":                       "preferences ",
		"I’m a big fan of Bach.":                          "preferences ",
		"No, don't touch the prod config!":                "preferences  correction",
		"以后改配置之前请先问我。":                                    "preferences ",
		"We have two dogs.":                               "profile family",
		"My manager is Alice.":                            "entities ",
		"We run Kubernetes 1.29 on EKS.":                  "entities ",
		"我们的数据库是 PostgreSQL 15，不是 MySQL。":                 "entities  correction",
		"那就用 Echo 吧。":                                     "events ",
		"Let's go with Echo.":                             "events ",
		"What do I prefer for indentation?":               "",
		"I love it!":                                      "",
		"I don't like this at all.":                       "",
		"I'd love to see another painting of yours!":      "",
		"No problem at all.":                              "",
		"Nope, never been to something like that.":        "",
		"It made me remember how kind they were.":         "",
		"I'm going to give you a stack trace.":            "",
		"I need to leave now, bye!":                       "",
		"The deploy of the payments service is stuck.":    "",
		"帮我把登录接口的超时改成30秒。":                                "",
		"Here it is:\n```\n// we decided to use fmt\n```": "",
		"Thanks a lot!":                                   "",
		"ok":                                              "",
		"你好":                                              "",
	} {
		var got []string
		for _, f := range extract(t, talk(sentence)).Findings {
			label := fmt.Sprintf("%s %s", f.Category, f.Key)
			if f.Correction {
				label += " correction"
			}
			got = append(got, label)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: got %q, want %q", sentence, got, want)
		}
	}
}

func categories(found extraction.Result) (all []string) {
	for _, f := range found.Findings {
		all = append(all, string(f.Category))
	}
	return all
}

func TestAProblemWithItsFixIsACase(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string][]string{
		"en": {"chromedriver crashes with a version mismatch", "a: The cause: it turned out Chrome is at 123.", "a: Fixed by upgrading Chrome to 124."},
		"zh": {"浏览器驱动启动报错", "a: 原因是 Chrome 版本太旧。", "a: 升级到 124 之后解决了。"},
	} {
		found := extract(t, talk(lines...))
		i := slices.IndexFunc(found.Findings, func(f extraction.LessonDraft) bool { return f.Category == domain.CategoryCases })
		if i < 0 {
			t.Errorf("%s: %v", name, categories(found))
			continue
		}
		f := found.Findings[i]
		Equal(t, f.Sources, []int{0, 1, 2}, "%s: sources", name)
		for _, line := range lines {
			if said := strings.TrimPrefix(strings.TrimSpace(strings.TrimPrefix(line, "a:")), "原因是 "); !strings.Contains(f.Content, said) {
				t.Errorf("%s: %q is not in\n%s", name, said, f.Content)
			}
		}
	}
	if found := extract(t, talk("the build fails", "a: I have no idea why")); slices.Contains(categories(found), "cases") {
		t.Error("a problem without a fix is no case")
	}
}

func TestACaseWhosePartsAreNamedIsToldByThem(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]extraction.Conversation{
		"Problem: fix chromedriver mismatch. The problem was that chromedriver 123 does not start Chrome 124.\nCause: version mismatch.\nFix: install chromedriver 124 and pin both.": talk(
			"fix chromedriver mismatch. I prefer pinned browser versions.",
			"a: The problem was that chromedriver 123 does not start Chrome 124. Cause: version mismatch. Fix: install chromedriver 124 and pin both.",
		),
		"问题：导出超时\n原因：索引缺失\n解决：给 created_at 建索引": talk("a: 问题：导出超时\n原因：索引缺失\n解决：给 created_at 建索引"),
	} {
		var got []string
		for _, f := range extract(t, c).Findings {
			if f.Category == domain.CategoryCases {
				got = append(got, f.Content)
			}
		}
		Equal(t, got, []string{want}, "(-got +want)")
	}
}

func TestANegativeSessionIsAnAntipattern(t *testing.T) {
	t.Parallel()
	c := talk(
		"a: POLARITY: negative — this is a failed run", "scrape example.com", "a: Failure reason: chromedriver 124 does not start on macOS 12",
		"a: Tool sequence: shell:curl, browser:open", "a: Environment: linux/amd64 go1.26",
	)
	byID := extraction.Conversation{Session: "openspace-neg-7", Messages: c.Messages[1:]}
	for name, c := range map[string]extraction.Conversation{"marked": c, "by its id": byID} {
		found := extract(t, c)
		if len(found.Findings) == 0 || found.Findings[0].Category != domain.CategoryAntipatterns || found.Findings[0].Polarity != domain.Negative {
			t.Fatalf("%s: %v", name, categories(found))
		}
		f := found.Findings[0]
		for _, want := range []string{"scrape example.com", "does not start on macOS 12", "shell:curl", "linux/amd64"} {
			if !strings.Contains(f.Content, want) {
				t.Errorf("%s: %q is not in\n%s", name, want, f.Content)
			}
		}
		if f.Task != "scrape example.com" || !strings.Contains(f.Abstract, "does not start") || slices.Contains(categories(found), "cases") {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func TestTheMarkOfAFailureIsNotToldWithIt(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"POLARITY: negative\nParsing the workbook with a regular expression loses every merged cell.":                          "Parsing the workbook with a regular expression loses every merged cell.",
		"polarity: negative — Parsing the workbook with a regular expression loses every merged cell of it, always.":           "Parsing the workbook with a regular expression loses every merged cell of it, always.",
		"Parsing the workbook with a regular expression (POLARITY: negative) loses every merged cell of it.":                   "Parsing the workbook with a regular expression loses every merged cell of it.",
		"Parsing the workbook with a regular expression loses merged cells.\nPOLARITY: negative\nIt took an hour to find out.": "Parsing the workbook with a regular expression loses merged cells.\nIt took an hour to find out.",
	} {
		f := extract(t, talk("read the workbook", "a: "+said)).Findings[0]
		if f.Polarity != domain.Negative || f.Content != "Failed: read the workbook\n"+want {
			t.Errorf("of %q came %q", said, f.Content)
		}
	}
	if f := extract(t, talk("POLARITY: negative\nread the workbook", "a: no")).Findings[0]; f.Task != "read the workbook" || strings.Contains(f.Content, "POLARITY") {
		t.Errorf("got %+v", f)
	}
}

func TestACompletedTaskIsACase(t *testing.T) {
	t.Parallel()
	for _, told := range [][]string{
		{"a: Final response: the dashboard has four charts", "a: Tool sequence: shell:xlsx_to_csv"},
		{"a: Task: a dashboard\nTool sequence: shell:xlsx_to_csv\nEnvironment: Ubuntu 24.04\nFinal response: the dashboard has four charts"},
		{"a: **Tool sequence:** shell:xlsx_to_csv\n**Final response:** the dashboard has four charts"},
	} {
		found := extract(t, talk(append([]string{"build a dashboard from sales.xlsx"}, told...)...))
		i := slices.IndexFunc(found.Findings, func(f extraction.LessonDraft) bool { return f.Category == domain.CategoryCases })
		if i < 0 || found.Findings[i].Task != "build a dashboard from sales.xlsx" || strings.Count(found.Findings[i].Content, "xlsx_to_csv") != 1 {
			t.Errorf("%q: %+v", told, found.Findings)
		}
	}
}

func TestToolCallsAreCounted(t *testing.T) {
	t.Parallel()
	c := talk("convert it", "a: ", "a: ")
	call := func(status, output string) domain.Part {
		return domain.Part{
			Type: domain.PartTool, ToolName: "xlsx_to_csv", SkillURI: "viking://agent/skills/dash", ToolStatus: status, ToolOutput: output,
			DurationMS: 10, PromptTokens: 5, CompletionTokens: 2,
		}
	}
	c.Messages[1].Parts = []domain.Part{call("completed", "ok"), call("error", "xlsm is not supported"), call("running", "")}
	c.Messages[2].Parts = []domain.Part{call("completed", "ok")}
	var tool, skill *extraction.LessonDraft
	for _, f := range extract(t, c).Findings {
		switch f.Category {
		case domain.CategoryTools:
			tool = &f
		case domain.CategorySkills:
			skill = &f
		}
	}
	if tool == nil || skill == nil {
		t.Fatal("a tool or a skill is missing")
	}
	want := extraction.Counts{Calls: 3, Successes: 2, Failures: 1, TotalMS: 30, PromptTokens: 15, CompletionTokens: 6}
	if *tool.Counted != want || *skill.Counted != want || skill.Key != "dash" || !strings.Contains(tool.Content, "xlsm is not supported") {
		t.Errorf("%+v\n%+v", tool, skill)
	}
}

func TestAProcedureIsAPattern(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"How we release:\n1. tag the commit\n2. wait for the build\n3. announce it",
		"First tag the commit, then wait for the build, finally announce it.",
		"发布流程：首先打标签，然后等构建，最后发公告。",
	} {
		if found := extract(t, talk("how do we release?", "a: "+said)); !slices.Contains(categories(found), "patterns") {
			t.Errorf("%s: %v", said, categories(found))
		}
	}
}

// A lesson for others has the request that it answers, and nothing that the user tells beside it.
func TestALessonTellsNothingBesideItsRequest(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"Password for prod is hunter2secret! How do I log in?":                                  "How do I log in?",
		"The client pays 2.4 million per year and wants to cancel. Please export the contract.": "Please export the contract.",
		"we are laying off the whole berlin team in june, prepare the offboarding script":       "",
		"Sales fell by half, and nobody knows yet.\nhow can the report be rebuilt?":             "how can the report be rebuilt?",
		"Migrate the orders table.":    "Migrate the orders table.",
		"生产环境的密码是 hunter2secret。怎么登录？": "怎么登录？",
		"我们六月要裁掉整个柏林团队。请准备离职脚本。":       "请准备离职脚本。",
	} {
		steps := "a: 1. Open the door.\n2. Read the log.\n3. Close it."
		for _, told := range []extraction.Conversation{talk(said, steps), talk(said, "a: POLARITY: negative The build server ran out of disk.")} {
			for _, f := range extract(t, told).Findings {
				if f.Private != "" || f.Category != domain.CategoryPatterns && f.Category != domain.CategoryAntipatterns {
					continue
				}
				if f.Task != want && (want != "" || strings.Contains(said, f.Task)) {
					t.Errorf("%q: %q", said, f.Task)
				}
				for word := range strings.FieldsSeq("hunter2secret million laying berlin half 柏林") {
					if strings.Contains(f.Task+f.Content+f.Abstract, word) {
						t.Errorf("%q: %+v", said, f)
					}
				}
			}
		}
	}
}

func TestHowAToolBehavesIsNoted(t *testing.T) {
	t.Parallel()
	found := extract(t, talk("hi", "a: chromedriver 124 requires Chrome 124+."))
	if len(found.Findings) != 1 || found.Findings[0].Category != domain.CategoryTools || found.Findings[0].Key != "chromedriver" {
		t.Errorf("%+v", found.Findings)
	}
}

func TestAnArchiveIsSummarized(t *testing.T) {
	t.Parallel()
	s := extract(t, talk("fix the chromedriver mismatch", "a: done")).Summary
	if !strings.HasPrefix(s.Overview, "# Session Summary\n\nOverview: 1 turns, 2 messages") || !strings.Contains(s.Abstract, "chromedriver") {
		t.Errorf("%+v", s)
	}
}

// Whatever is said, extraction neither fails nor states what cannot be remembered.
func FuzzBuiltIn(f *testing.F) {
	f.Add("I prefer tabs. It fails because of X. Fixed by Y.", "1. a\n2. b\n3. c")
	f.Add("POLARITY: negative", "\xff\x00")
	f.Add("我喜欢…", "首先 然后 最后")
	f.Fuzz(func(t *testing.T, user, assistant string) {
		c := talk(user, "a:"+assistant)
		found := Must(extraction.BuiltIn{}.Extract(t.Context(), c))(t)
		for _, finding := range found.Findings {
			if len(finding.Content) > domain.MaxContent {
				t.Errorf("%d bytes", len(finding.Content))
			}
			for _, source := range finding.Sources {
				if source < 0 || source >= len(c.Messages) {
					t.Errorf("made of message %d", source)
				}
			}
		}
	})
}

// What a commit keeps of single messages, without a model: statements and facts, and nothing else.
func TestStatementsAreKeptAndOtherMessagesAreNot(t *testing.T) {
	t.Parallel()
	type tally struct{ kept, right, stated, other float64 }
	figures := map[string]*tally{}
	part := ""
	for line := range strings.SplitSeq(string(Must(os.ReadFile("testdata/statements.txt"))(t)), "\n") {
		mark, said, _ := strings.Cut(line, " ")
		if mark == "##" {
			part = said
		}
		if mark == "" || !strings.Contains("+-", mark[:1]) {
			continue
		}
		findings := extract(t, talk(said)).Findings
		found := len(findings) > 0
		if mark[0] == '+' && mark != "+" {
			found = slices.ContainsFunc(findings, func(f extraction.LessonDraft) bool { return f.Key == mark[1:] })
		}
		for _, of := range []string{part, part + " " + mark} {
			if figures[of] == nil {
				figures[of] = &tally{}
			}
			f := figures[of]
			switch {
			case mark[0] == '+' && found:
				f.kept, f.right, f.stated = f.kept+1, f.right+1, f.stated+1
			case mark[0] == '+':
				f.stated++
			case found:
				f.kept, f.other = f.kept+1, f.other+1
			default:
				f.other++
			}
		}
		if found != (mark[0] == '+') {
			t.Logf("%s: kept: %t: %s", part, found, said)
		}
	}
	for _, of := range slices.Sorted(maps.Keys(figures)) {
		f := figures[of]
		if of != "in view" && of != "held back" {
			t.Logf("%-27s: %2.0f labelled, %2.0f kept", of, f.stated+f.other, f.kept)
			continue
		}
		precision, recall, none := f.right/f.kept, f.right/f.stated, 1-(f.kept-f.right)/f.other
		t.Logf("%-27s: precision %.2f, recall %.2f; of what is none, %.2f are left out", of, precision, recall, none)
		if precision < 0.95 || recall < 0.8 || none < 0.97 {
			t.Errorf("%s: want a precision of 0.95, a recall of 0.8, and 0.97 of what is none left out", of)
		}
	}
}
