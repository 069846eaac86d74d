package console

import "maps"

// inChinese are the texts of all pages. A test finds those that are missing.
var inChinese = joined(frameInChinese, searchInChinese, logInChinese, proofInChinese, itemInChinese, valuesInChinese)

func joined(parts ...map[string]string) map[string]string {
	all := map[string]string{}
	for _, part := range parts {
		maps.Copy(all, part)
	}
	return all
}

var frameInChinese = map[string]string{
	"Skip to the content": "跳到正文", "as of %s": "截至 %s", "Search everything": "搜索全部", "Search knowledge": "搜索知识",
	"Role: %s": "角色：%s", "Light": "浅色", "Dark": "深色", "Log out": "退出登录", "Log in": "登录", "Your key": "你的密钥",
	"No-auth mode: this server accepts every caller. Create a key before you let others reach it.": "免认证模式：此服务器接受任何调用者。" +
		"在让其他人访问之前，请先创建密钥。",
	"Notice": "提示",
	"The session lasts 12 hours and holds no key. It ends at once when the key is revoked.": "会话有效期为 12 小时，其中不含密钥。" +
		"密钥被吊销时，会话立即结束。",
	"Enter a key.": "请输入密钥。", "The key was not accepted.": "密钥未被接受。",
	"Pages": "页面", "Know": "知识", "Trust": "可信", "Run": "运行", "Home": "首页", "Search": "搜索", "Knowledge": "知识库", "Log": "日志",
	"Proof": "证明", "Projections": "投影", "The same in a terminal": "在终端中执行同样的操作", "API": "API", "Keyboard": "键盘",
	"Next and previous entry of a list": "列表的下一项和上一项", "Open the entry": "打开该项", "One event back, one event on": "后退一个事件，前进一个事件",
	"Back to now": "回到现在", "Show this list": "显示此列表", "Close": "关闭", "Time machine": "时间机器", "As of": "截至", "Now": "现在",
	"One event back": "后退一个事件", "One event on": "前进一个事件", "Position in the log": "日志中的位置", "position or time": "位置或时间", "Go": "前往",
	"You see what was known then, with today's rights. Nothing can be written.": "你看到的是当时已知的内容，权限按今天计算。此时不能写入。",
	"just now": "刚刚", "%d min": "%d 分钟", "%d h": "%d 小时", "%d d": "%d 天", "in %s": "%s后", "%s ago": "%s前",
	"superseded": "已被取代", "forgotten": "已遗忘", "erased": "已擦除", "reported stale": "被报告过时", "confirmation expired": "确认已过期",
	"on hold": "依法保留", "failure to avoid": "应避免的失败", "Events": "事件", "When": "时间", "What": "内容", "Who": "操作者", "Stream": "流",
	"for %s": "代表 %s", "What do we know?": "我们知道什么？", "Question": "问题", "Ask a question, in your own words": "用自己的话提问",
	"stands still": "停滞", "behind": "落后", "%s is %d events behind": "%s 落后 %d 个事件", "up to date": "最新",
	"Every projection has read the whole log, up to #%d.": "每个投影都已读完整个日志，直到 #%d。", "What changed": "最近的变化",
	"The whole log": "完整日志", "Nothing is recorded yet. Remember something:": "尚无记录。先记住一些内容：", "What to do:": "如何处理：",
	"Try again in %s.": "请在 %s 后重试。", "You are %s, with the role %s.": "你是 %s，角色为 %s。", "Request": "请求",
	"There is no such page": "没有这个页面", "The page could not be made": "无法生成页面", "The session has ended": "会话已结束",
	"Log in again.": "请重新登录。",
}

var searchInChinese = map[string]string{
	"Filters, audience and order": "筛选、受众和排序", "Order": "排序", "nearest scope first": "最近的范围优先", "weight alone": "仅按权重",
	"Ask as": "以谁的身份提问", "Why not?": "为什么没有？", "An item that you expected": "你期望出现的条目", "id": "标识", "Explain the answer": "解释结果",
	"Without a least score": "不设最低分", "%d hits": "%d 条结果", "1 hit": "1 条结果", "words alone": "仅按词语", "least score": "最低分",
	"Nothing was found among %d visible items; %d passed the filters.": "在 %d 个可见条目中没有找到；%d 个通过了筛选。",
	"The best item below the least score has %s.":                      "低于最低分的最佳条目得分为 %s。", "Show it": "显示",
	"How the answer came about": "结果如何得出", "Audience": "受众", "everything in the tenant": "租户中的全部内容", "Visible items": "可见条目",
	"Passed the filters": "通过筛选", "Words compared": "参与比较的词语", "Time": "耗时", "Vectors compared, by scope": "按范围比较的向量",
	"Scope": "范围", "Items": "条目", "How": "方式", "everything": "全部",
	"Words and meaning count. The nearest scope comes first: user, project, agent, team, organisation, public.": "词语和含义都计入。" +
		"最近的范围优先：用户、项目、智能体、团队、组织、公开。",
	"any": "任意", "contested": "有争议", "first because of its nearer scope": "因范围更近而靠前", "Weight": "权重", "Parts of the weight": "权重的组成",
	"Meaning": "含义", "not yet computed": "尚未计算", "Words": "词语", "Score": "得分", "Confidence": "置信度",
	"Weight = score × (½ + ½ · confidence). Tier: %s.": "权重 = 得分 ×（½ + ½ · 置信度）。层级：%s。",
	"Confidence from %d helpful and %d harmful votes":  "置信度来自 %d 次有用和 %d 次有害投票", "%d reports of staleness": "%d 次过时报告",
	"words found: %s": "找到的词语：%s", "Why not %s?": "为什么没有 %s？", "It is hit number %d.": "它是第 %d 条结果。",
	"The last hit has the weight %s.":                                               "最后一条结果的权重为 %s。",
	"There is no such item, or you may not see it.":                                 "没有这个条目，或者你无权查看。",
	"A filter excludes it.":                                                         "它被某个筛选条件排除。",
	"Its score is below the least score.":                                           "它的得分低于最低分。",
	"It shares no scope with the audience, or none of its words and meaning match.": "它与受众没有共同的范围，或者词语和含义都不匹配。",
	"It passes the filters, but other items have more weight, or its score is below the least score.": "它通过了筛选，但其他条目的权重更高，" +
		"或者它的得分低于最低分。",
	"Type": "类型", "Category": "类别", "Kind": "种类", "Polarity": "倾向", "Reported stale": "被报告过时", "Status": "状态", "Owner": "所有者", "Tag": "标签",
	"User": "用户", "Project": "项目", "Agent": "智能体", "Team": "团队", "Organisation": "组织",
}

var logInChinese = map[string]string{
	"Filters": "筛选", "Filter": "筛选", "newest first": "最新优先", "oldest first": "最早优先",
	"A name may end with an asterisk: knowledge.*": "名称可以星号结尾：knowledge.*", "Remove this filter": "移除此筛选",
	"Pause": "暂停", "following": "实时跟踪中", "Follow": "实时跟踪", "Export as lines of JSON": "导出为 JSON 行", "Export as CSV": "导出为 CSV",
	"No event that you may see passes these filters.": "没有你可见的事件通过这些筛选。", "More": "更多", "Name": "名称", "Actor": "操作者",
	"For whom": "代表谁", "Recorded from": "记录时间从", "Recorded before": "记录时间早于", "Occurred from": "发生时间从", "Occurred before": "发生时间早于",
	"Trace": "跟踪", "Correlation": "关联", "Event": "事件", "Recorded": "记录于", "Occurred": "发生于", "version %d": "版本 %d", "Reason": "原因",
	"Reason code": "原因代码", "Event id": "事件标识", "Hash": "哈希", "Same": "同属", "Prove it": "证明", "See everything as of then": "查看当时的全部内容",
	"its text was erased": "其文本已被擦除", "something in it was redacted later": "其中部分内容后来被遮盖", "What was written": "所写内容",
	"No item that you may see passes these filters.": "没有你可见的条目通过这些筛选。", "Task": "任务", "Updated": "更新于",
	"A projection is computed from the log alone, and can be rebuilt.": "投影只由日志计算得出，可以重建。", "Version": "版本", "State": "状态",
	"Position": "位置", "Behind": "落后", "Quarantined": "已隔离", "%d events": "%d 个事件",
	"Plain fields": "普通字段", "Cause and effect": "因果", "no recorded cause": "没有记录原因",
}

// valuesInChinese are values of the API.
var valuesInChinese = map[string]string{
	"user_profile": "用户画像", "strategy": "策略", "tool": "工具", "usecase": "用例", "definition": "定义", "plan": "计划",
	"profile": "画像", "preferences": "偏好", "entities": "实体", "events": "事件", "cases": "案例", "patterns": "模式", "tools": "工具",
	"skills": "技能", "antipatterns": "反模式", "memory": "记忆", "skill": "技能", "resource": "资源", "positive": "正面", "negative": "负面",
	"building": "构建中", "catching_up": "追赶中", "verifying": "验证中", "ready": "就绪", "standby": "备用", "retired": "已停用", "failed": "失败",
	"true": "是", "false": "否", "active": "有效", "user": "用户", "project": "项目", "agent": "智能体", "team": "团队", "org": "组织",
	"public": "公开", "exact": "精确", "sketch": "草图", "none": "无",
	"knowledge.remembered": "记住了知识", "knowledge.revised": "修订了知识", "knowledge.found_helpful": "认为有用",
	"knowledge.found_harmful": "认为有害", "knowledge.feedback_retracted": "撤回了反馈", "knowledge.reported_stale": "报告过时",
	"knowledge.confirmed": "确认仍有效", "knowledge.superseded": "被取代", "knowledge.deleted": "被遗忘", "knowledge.restored": "被恢复",
	"knowledge.erased": "被擦除", "knowledge.held": "依法保留", "knowledge.released": "解除保留", "knowledge.moved": "移动了位置",
	"knowledge.rescoped": "更改了范围", "knowledge.transferred": "移交了所有权",
}
