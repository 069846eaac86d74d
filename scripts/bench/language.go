package main //nolint:lll // phrases are data

// language is what sentences are made of.
type language struct {
	forms, situations, things, doings, reasons []string
}

var names = []string{"order-service-", "getInvoiceByID_", "build/", "RFC-", "ticket #", "node-", "user_table_v", "v1."}

var english = language{
	forms: []string{
		"When SITUATION THING, DOING first, because REASON (NAMES). ",
		"DOING before you touch THING; REASON, and NAME needs NUMBER minutes to recover. ",
		"In NAME we saw that REASON: DOING, then look at THING again, and NAMES. ",
		"The customer asked about THING while SITUATION it, so DOING and write down that REASON. ",
		"After NUMBER attempts at SITUATION THING it turned out that REASON: NAMES. ",
	},
	situations: []string{
		"deploying", "reviewing", "migrating", "testing", "configuring", "debugging", "rolling back", "scheduling", "renaming",
		"importing", "translating", "negotiating", "cleaning up", "profiling", "encrypting", "documenting", "onboarding", "replacing",
	},
	things: []string{
		"the payment gateway", "a customer's delivery address", "the nightly backup job", "the search index", "an expired certificate",
		"the mobile release branch", "the quarterly sales report", "a shared spreadsheet", "the message queue", "the login page",
		"the staging cluster", "a refund request", "the airport transfer", "the translation memory", "the feature flag",
		"the contract with the supplier", "the warehouse scanner", "the telephone interview", "an unsigned package", "the old dashboard",
	},
	doings: []string{
		"keep the previous version for a week", "ask the owner for a second opinion", "retry with exponential backoff and jitter",
		"read the changelog of both libraries", "switch the traffic over slowly", "write the failing test", "lower the batch size",
		"send a short summary to everybody involved", "lock the table for as short as possible", "measure it on real data",
		"check the time zone of every timestamp", "pin the exact version", "turn off the cache", "use the vegetarian menu",
		"prefer the train over the plane", "compare the totals with the bank statement", "open the window seat booking early",
	},
	reasons: []string{
		"the server sheds load in bursts", "two people had changed it at once", "nobody remembers why it was done that way",
		"the default timeout is shorter than the longest query", "the driver closes idle connections silently",
		"rounding hides small differences", "the form loses its input on reload", "the upstream project renamed the option",
		"she is allergic to nuts and told us only once", "the disk was almost full", "the token expires at midnight",
		"half of the readers use a screen reader", "an index was missing on the foreign key", "the meeting moved to Thursday",
		"the tests pass only in one order", "the price includes tax in some countries",
	},
}

var chinese = language{
	forms: []string{
		"SITUATIONTHING的时候，先DOING，因为REASON。",
		"处理THING之前要DOING；REASON，NAME 需要NUMBER分钟才能恢复（NAMES）。",
		"在 NAME 里我们发现REASON，于是DOING，然后再看THING。",
		"客户问到THING，当时正在SITUATION，所以DOING，并记下REASON。",
		"SITUATIONTHING试了NUMBER次以后，才知道REASON。",
	},
	situations: []string{"部署", "评审", "迁移", "测试", "配置", "调试", "回滚", "安排", "导入", "翻译", "清理", "加密", "替换", "培训"},
	things: []string{
		"支付网关", "客户的收货地址", "每晚的备份任务", "搜索索引", "过期的证书", "移动端的发布分支", "季度销售报告", "消息队列", "登录页面",
		"预发布集群", "退款申请", "机场接送", "功能开关", "供应商合同", "仓库扫描枪", "电话面试", "旧的仪表盘", "用户画像",
	},
	doings: []string{
		"保留上一个版本一个星期", "请负责人再看一遍", "用指数退避重试", "阅读两个库的更新日志", "慢慢切换流量", "先写失败的测试",
		"减小批量", "给所有人发一份简短的总结", "尽量缩短锁表时间", "用真实数据测量", "检查每个时间戳的时区", "固定准确的版本", "关闭缓存",
		"选择靠窗的座位", "优先坐高铁", "和银行对账单核对总数",
	},
	reasons: []string{
		"服务器会突然拒绝请求", "两个人同时改了它", "没有人记得当初为什么这样做", "默认超时比最长的查询还短", "驱动会悄悄关闭空闲连接",
		"四舍五入掩盖了小的差别", "表单刷新后会丢失输入", "上游项目改了选项的名字", "她对坚果过敏，只说过一次", "磁盘快满了", "令牌在午夜过期",
		"一半的读者使用读屏软件", "外键上缺少索引", "会议改到了星期四", "用户偏好类型安全的语言",
	},
}
