package viking_test //nolint:lll // tables of test data

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// report is what an agent tells of a task: each message begins with u: or a:. What it teaches is for others in one of
// the directories of lessons, or for nobody else if want is empty.
type report struct{ said, directory, want string }

// Agents report in many layouts: labelled lines, lists, JSON, code, with and without full stops, in two languages.
var reports = []report{
	// what worked
	{"u: fix the chromedriver version mismatch ~ a: Final response: chromedriver 124 requires Chrome 124+ ~ a: Tool sequence: shell:chromedriver → browser:open ~ a: Environment: os=Darwin; python=3.12; arch=arm64", "tools", "chromedriver 124 requires Chrome 124+"},
	{"u: fix the crash of the exporter ~ a: Final response: openpyxl 3.1 requires Python 3.8. ~ a: Tool sequence: shell. ~ a: Environment: Linux.", "tools", "openpyxl 3.1 requires Python 3.8"},
	{"u: export the sales ~ a: Final response: Done\npandas 2.2 requires numpy 1.26\nTool sequence: shell → python\nEnvironment: Linux 6.8, Python 3.12", "tools", "pandas 2.2 requires numpy 1.26"},
	{"u: convert the workbooks ~ a: Final response:\n- xlsx_to_csv fails for .xlsm files\n- All charts are drawn\n\nEnvironment: Windows Server 2022", "tools", "xlsx_to_csv fails for .xlsm files"},
	{"u: convert the films ~ a: Final response:\n1. ffmpeg 7 requires libx265 3.6\n2. Both films play", "tools", "ffmpeg 7 requires libx265 3.6"},
	{"u: crawl the shop ~ a: **Final response:** The crawl is complete.\n**Finding:** playwright-core 1.44 needs Node 18", "tools", "playwright-core 1.44 needs Node 18"},
	{"u: deploy the chart ~ a: {\"status\": \"success\", \"lesson\": \"helm-diff 3.9 requires Helm 3.14\", \"tools\": [\"shell\", \"helm\"]}", "tools", "helm-diff 3.9 requires Helm 3.14"},
	{"u: build the image ~ a: Final response: The build passes.\n```sh\ndocker buildx build .\n```\nbuildx 0.14 requires Docker Engine 23", "tools", "buildx 0.14 requires Docker Engine 23"},
	{"u: rotate the logs ~ a: Final response: Done\r\nlogrotate 3.21 requires systemd 250\r\nTool sequence: Read → Edit → Bash\r\nEnvironment: Ubuntu 24.04, Bash 5.2\r\n", "tools", "logrotate 3.21 requires systemd 250"},
	{"u: sign the binaries ~ a: Final response: Signed. Note that `cosign` 2.2 requires Go 1.21. Both are in the registry", "tools", "2.2 requires Go 1.21"},
	{"u: make the nightly build faster ~ a: Final response:\n1. Restore the Gradle cache\n2. Run the Kotlin compiler daemon\n3. Upload the artifact to Nexus", "patterns", "Restore the Gradle cache"},
	{"u: build a dashboard of the sales ~ a: Final response: the dashboard has four charts ~ a: Tool sequence: shell:xlsx_to_csv, Read, Write ~ a: Skill 'sales-dashboard-builder' evolved: Builds a dashboard from a workbook", "skills", "Builds a dashboard from a workbook"},
	{"u: probe the cluster ~ a: Final response: First drain the Ceph node, then restart Kubelet, finally uncordon it.", "patterns", "drain the Ceph node"},
	{"u: import the orders ~ a: Final response: Done; root cause: pgloader 3.6 needs MySQL 5.7", "tools", "pgloader 3.6 needs MySQL 5.7"},
	{"u: write the docs ~ a: ✅ Done\n🔧 terraform-docs 0.17 requires Go 1.22", "tools", "terraform-docs 0.17 requires Go 1.22"},
	{"u: 修复 chromedriver 版本不匹配 ~ a: Final response: chromedriver 123 需要 Chrome 123+ ~ a: Tool sequence: shell:chromedriver → browser:open ~ a: Environment: os=Darwin; python=3.12", "tools", "chromedriver 123 需要 Chrome 123+"},
	{"u: 导出销售数据 ~ a: 最终回复：geckodriver 0.34 需要 Firefox 115\n工具序列：shell → python\n环境：Linux 6.8，Python 3.12", "tools", "geckodriver 0.34 需要 Firefox 115"},
	{"u: 转换工作簿 ~ a: Final response:\n- xls2csv 不支持 .xlsm\n- 图表都已生成", "tools", "xls2csv 不支持 .xlsm"},
	{"u: 转换视频 ~ a: 最终回复：\r\n1. ffprobe 7 需要 libx265 3.6\r\n2. 两个视频都能播放\r\n", "tools", "ffprobe 7 需要 libx265 3.6"},
	{"u: 部署图表 ~ a: {\"状态\": \"成功\", \"经验\": \"helmfile 0.165 依赖 Helm 3.14\"}", "tools", "helmfile 0.165 依赖 Helm 3.14"},
	{"u: 加快夜间构建 ~ a: 最终回复：\n1. 用高版本的 Gradle 构建\n2. 给程序加上缓存\n3. 上传到 Nexus", "patterns", "给程序加上缓存"},
	{"u: 生成销售仪表盘 ~ a: Final response: 仪表盘有四个图表 ~ a: Skill 'weekly-report-builder' evolved: 用工作簿生成周报", "skills", "用工作簿生成周报"},
	{"u: 导入订单 ~ a: 结论：`mydumper` 0.16 依赖 MySQL 5.7。完成。", "tools", "0.16 依赖 MySQL 5.7"},
	// what failed
	{"a: POLARITY: negative — this is a failed run ~ u: scrape example.com ~ a: Failure reason: chromedriver 124 does not start on macOS 12 ~ a: Tool sequence: shell:curl → browser:open ~ a: Environment: os=Darwin; python=3.11; arch=arm64", "antipatterns", "does not start on macOS 12"},
	{"a: POLARITY: negative\nTask: scrape the shop\nFailure reason: the login times out\nTool sequence: Read, Playwright, Bash\nEnvironment: Windows 11 Pro, Node 20, Playwright 1.44", "antipatterns", "the login times out"},
	{"a: POLARITY: negative ~ u: download the invoices ~ a: Failure reason: Login fails after the redirect\nSelenium 4.21 returns StaleElementReferenceException", "antipatterns", "Login fails after the redirect"},
	{"a: POLARITY: negative ~ u: render the chart ~ a: Failure reason:\n```\nTypeError: Cannot read properties of undefined (reading 'map')\n    at Object.<anonymous> (/app/src/Chart.tsx:12:5)\n```\nEnvironment: Node 20.11, React 18", "antipatterns", "Cannot read properties"},
	{"a: POLARITY: negative ~ u: press the button ~ a: {\"error\": \"ElementClickInterceptedException\", \"message\": \"Element is not clickable at point (10, 20)\", \"retries\": 3}", "antipatterns", "not clickable at point"},
	{"a: POLARITY: negative ~ u: merge the cells ~ a: Failure reason:\n- Merged cells lose their values\n- Formulas are not recalculated\n\nTool sequence:\n1. Open the workbook\n2. Parse it\n3. Save it", "antipatterns", "Merged cells lose their values"},
	{"a: POLARITY: negative\r\n ~ u: resize the images\r\n ~ a: Failure reason: ImageMagick refuses the policy\r\nTool sequence: Glob → Convert\r\nEnvironment: Debian Bookworm\r\n", "antipatterns", "ImageMagick refuses the policy"},
	{"a: POLARITY: negative ~ u: train the model ~ a: Failure reason: Out of memory in Metal ~ a: Environment: MacBook Pro, Apple Silicon, Darwin 23.5.0, PyTorch 2.3", "antipatterns", "Out of memory in Metal"},
	{"a: POLARITY: negative ~ u: start the containers ~ a: Failure reason: Permission denied: /var/run/docker.sock. Docker Desktop is not running. Exit code 126.", "antipatterns", "/var/run/docker.sock"},
	{"a: POLARITY: negative ~ u: warm the cache ~ a: ## Root Cause\n\nRedis Cluster refuses MOVED replies\n\n## Next Steps\n\n* Use Redisson 3.30\n* Retry", "antipatterns", "refuses MOVED replies"},
	{"a: POLARITY: negative — 这是一个失败的执行记录 ~ u: 抓取 example.org ~ a: Failure reason: 在 macOS 12 上 chromedriver 125 无法启动 ~ a: Tool sequence: shell:curl → browser:open ~ a: Environment: os=Darwin; python=3.11", "antipatterns", "chromedriver 125 无法启动"},
	{"a: POLARITY: negative\n任务：抓取商店\n失败原因：登录后程序超时\n工具序列：Read → Playwright\n环境：Windows 11，Python 3.12", "antipatterns", "登录后程序超时"},
	{"a: POLARITY: negative ~ u: 合并单元格 ~ a: 失败原因：\n- 合并后周期为空\n- 许多公式没有重新计算", "antipatterns", "合并后周期为空"},
	{"a: POLARITY: negative ~ u: 渲染图表 ~ a: 失败原因：\n```\nTypeError: Cannot read properties of null\n```\n环境：Node 20.11，React 18", "antipatterns", "properties of null"},
	{"a: POLARITY: negative\r\n ~ u: 压缩图片\r\n ~ a: 失败原因：ImageMagick 拒绝了该策略\r\n环境：Debian Bookworm\r\n", "antipatterns", "拒绝了该策略"},
	{"a: POLARITY: negative ~ u: 点击按钮 ~ a: {\"错误\": \"ElementClickInterceptedException\", \"原因\": \"元素被遮挡\"}", "antipatterns", "元素被遮挡"},
	// what is about persons, in the same layouts
	{said: "u: plan the week ~ a: Final response: Bob needs insulin every day ~ a: Tool sequence: Read"},
	{said: "u: plan the week ~ a: Final response:\n- Zoltan Kovacs requires payment in advance\n- Done"},
	{said: "a: POLARITY: negative ~ u: call the clinic ~ a: Failure reason: Yusuf Omar has no insurance\nEnvironment: Linux"},
	{said: "a: POLARITY: negative ~ u: read the mail ~ a: Tool sequence: ask Bob Miller → log in as Bob ~ a: Environment: Bob Miller's laptop, Windows 11"},
	{said: "a: POLARITY: negative ~ u: pay the salaries ~ a: {\"error\": \"no account\", \"employee\": \"Ingrid Olsen\"}"},
	{said: "a: POLARITY: negative ~ u: my doctor said that I have diabetes, find a diet ~ a: Failure reason: no diet for diabetes was found"},
	{said: "a: POLARITY: negative ~ u: read the mail ~ a: owner=Kwame;role=none"},
	{said: "a: POLARITY: negative ~ u: read the mail ~ a: {\"status\":\"failed\",\"customer\":\"Björn Lindqvist\"}"},
	{said: "u: read the mail ~ a: Final response:\n1. Ask Priya Sharma for the key\n2. Log in\n3. Read the mail"},
	{said: "u: 安排本周 ~ a: 最终回复：\n1. 问张敏要密码\n2. 登录\n3. 读邮件"},
	{said: "a: POLARITY: negative ~ u: 登录邮箱 ~ a: 失败原因：王芳的账号被锁定\n环境：Windows 11"},
	{said: "a: POLARITY: negative ~ u: 安排体检 ~ a: 失败原因：\r\n- 李明对青霉素过敏\r\n"},
}

// report tells a report in a session of its own, and returns its lessons.
func (w *world) report(session, said string, by header) []any {
	w.t.Helper()
	for message := range strings.SplitSeq(said, " ~ ") {
		role := map[string]string{"u": "user", "a": "assistant"}[message[:1]]
		w.ask("POST", sessionsPath+"/"+session+"/messages", object{"role": role, "content": message[3:]}, by).object()
	}
	lessons, _ := w.ask("POST", sessionsPath+"/"+session+"/commit?wait=true", nil, by).object()["lessons"].([]any)
	return lessons
}

func TestReportsReachEverybodyButForWhatIsAboutPersons(t *testing.T) {
	each(t, keyed, func(t *testing.T, w *world) {
		w.learning()
		amy, ben := w.who(true, "amy")[0], w.who(false, "ben")[0]
		w.ask("POST", "/v1/tenants", object{"name": "other"}, as(rootKey)).want(http.StatusCreated)
		stranger := w.keyFor(object{"subject": "user:ben"}, "Annals-Tenant: other")
		finds := func(r report, by header) bool {
			question := object{"query": r.want, "target_uri": "viking://agent/memories/" + r.directory + "/", "limit": 100}
			for _, hit := range w.find(question, by)["memories"].([]any) {
				if strings.Contains(w.read(hit.(object)["uri"].(string), by).(string), r.want) {
					return true
				}
			}
			return false
		}
		reached, wanted := 0, 0
		for i, r := range reports {
			lessons := w.report(fmt.Sprintf("openspace-evo-%d", i), r.said, amy)
			switch {
			case r.want == "":
				for _, l := range lessons {
					if scopes := l.(object)["scopes"].([]any); scopes[0] != "user:amy" {
						t.Errorf("%q: %v may see %v", r.said, scopes, l)
					}
				}
				continue
			case finds(r, stranger):
				t.Errorf("%q: another tenant finds it", r.said)
			case finds(r, ben):
				reached++
			default:
				t.Errorf("%q reaches nobody else: %v", r.said, lessons)
			}
			wanted++
		}
		t.Logf("%d of %d reports reach a second user", reached, wanted)
	})
}

// What one user's agent learns, another user's agent finds: before a task, after a skill was pushed, on another machine,
// and in the analysis of a failure. Another tenant finds nothing.
func TestOneAgentLearnsAndAllBenefit(t *testing.T) {
	type question struct{ query, directory, want string }
	each(t, keyed, func(t *testing.T, w *world) {
		w.learning()
		w.embedding()
		amy, ben := w.who(true, "amy")[0], w.who(false, "ben")[0]
		w.ask("POST", "/v1/tenants", object{"name": "other"}, as(rootKey)).want(http.StatusCreated)
		stranger := w.keyFor(object{"subject": "user:ben"}, "Annals-Tenant: other")
		answers := func(q question, by header) string {
			found := w.find(object{"query": q.query, "target_uri": "viking://agent/" + q.directory + "/", "limit": 5}, by)
			return fmt.Sprint(found["memories"], found["skills"])
		}
		task := func(id, said string, private int, want ...string) {
			t.Helper()
			for message := range strings.SplitSeq(said, " ~ ") {
				role := map[string]string{"u": "user", "a": "assistant"}[message[:1]]
				w.ask("POST", sessionsPath+"/"+id+"/messages", object{"role": role, "content": message[3:]}, amy).object()
			}
			done := w.ask("POST", sessionsPath+"/"+id+"/commit", nil, amy).object()
			same(t, fmt.Sprint(done["learned_for"]), "[public]", id)
			path := "/api/v1/tasks/" + done["task_id"].(string)
			w.ask("POST", "/api/v1/system/wait", object{"timeout": 20}, amy).object()
			result := w.ask("GET", path, nil, amy).object()["result"].(object)
			same(t, fmt.Sprint(result["learned_for"]), fmt.Sprint(want), "learned by", id)
			reasons := 0
			for _, l := range result["lessons"].([]any) {
				l := l.(object)
				if alone := fmt.Sprint(l["scopes"]) == "[user:amy]"; alone != (l["private"] != nil) {
					t.Errorf("%s: %v", id, l)
				} else if alone {
					reasons++
				}
			}
			same(t, reasons, private, id, "keeps private", result["lessons"])
		}
		questions := []question{
			{"xlsx_to_csv", "memories/tools", "xlsx_to_csv fails for .xlsm"},
			{"sales dashboard from a workbook", "memories/skills", "Cleans NaN rows"},
			{"dashboard skill", "skills", "sales-dashboard-builder"},
			{"chromedriver setup", "memories/tools", "chromedriver 124 requires Chrome 124+"},
			{"scrape example.com", "memories/antipatterns", "does not start on macOS 12"},
			{"geckodriver 设置", "memories/tools", "geckodriver 0.34 需要 Firefox 115"},
			{"xlsm 文件", "memories/tools", "对 .xlsm 失败"},
			{"抓取 example.org", "memories/antipatterns", "geckodriver 无法启动"},
			{"周报", "memories/skills", "先清理空行"},
		}
		for _, q := range questions { // flow A: nothing is known yet
			same(t, answers(q, ben), "[] []", q.query)
		}
		task("openspace-evo-1", "u: Analyse sales.xlsx and build a dashboard ~ a: Final response: The dashboard has four charts\nxlsx_to_csv fails for .xlsm ~ a: Tool sequence: shell:xlsx_to_csv → python:pandas ~ a: Environment: os=Linux; python=3.12 ~ a: Skill 'sales-dashboard-builder' evolved: Cleans NaN rows, then draws bar charts", 1, "public")
		task("openspace-evo-2", "u: 分析 sales.xlsx 并生成仪表盘 ~ a: Final response: 仪表盘已生成\nxlsx2html 对 .xlsm 失败 ~ a: Tool sequence: shell:xlsx2html ~ a: Environment: os=Linux; python=3.12 ~ a: Skill 'weekly-report' evolved: 先清理空行，再生成周报", 1, "public")
		w.ask("POST", "/api/v1/skills", object{"data": object{"name": "sales-dashboard-builder", "description": "Builds a dashboard of sales from a workbook", "content": "# Steps", "metadata": object{"os": "Linux"}}}, amy).object()
		task("openspace-evo-3", "u: Fix the chromedriver version mismatch ~ a: Final response: chromedriver 124 requires Chrome 124+ ~ a: Tool sequence: shell:chromedriver → browser:open ~ a: Environment: os=Darwin; python=3.12", 1, "public")
		task("openspace-evo-4", "u: 修复 geckodriver 版本不匹配 ~ a: Final response: geckodriver 0.34 需要 Firefox 115 ~ a: Tool sequence: shell:geckodriver ~ a: Environment: os=Darwin; python=3.12", 1, "public")
		task("openspace-neg-5", "a: POLARITY: negative — this run failed ~ u: Scrape example.com ~ a: Failure reason: chromedriver 123 does not start on macOS 12 ~ a: Tool sequence: Read → Bash ~ a: Environment: os=Darwin; python=3.11", 0, "public")
		task("openspace-neg-6", "a: POLARITY: negative — 这是一个失败的执行记录 ~ u: 抓取 example.org ~ a: Failure reason: 在 macOS 12 上 geckodriver 无法启动 ~ a: Tool sequence: Read → Bash ~ a: Environment: os=Darwin; python=3.11", 0, "public")
		task("openspace-neg-7", "a: POLARITY: negative ~ u: Call the clinic ~ a: Failure reason: Bob Miller has no insurance", 1)
		task("openspace-evo-8", "u: 我喜欢柱状图 ~ a: Final response: 王芳的报表已发送", 2)
		for _, q := range questions { // flows B, C and D
			if got := answers(q, ben); !strings.Contains(got, q.want) {
				t.Errorf("%q: a second user finds %s", q.query, got)
			}
			same(t, answers(q, stranger), "[] []", "another tenant asks", q.query)
		}
		for _, private := range []string{"Bob Miller insurance", "王芳的报表", "我喜欢柱状图"} {
			found := fmt.Sprint(w.find(object{"query": private, "limit": 20}, ben))
			if strings.Contains(found, "Bob") || strings.Contains(found, "王芳") || strings.Contains(found, "我喜欢") {
				t.Errorf("a second user finds %s", found)
			}
		}
	})
}
