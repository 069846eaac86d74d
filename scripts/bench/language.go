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
		"After NUMBER attempts at SITUATION THING it turned out that REASON: NAMES. ",
	},
	situations: []string{"deploying", "reviewing", "migrating", "testing", "debugging", "rolling back", "importing", "translating", "negotiating", "encrypting"},
	things: []string{
		"the payment gateway", "a customer's delivery address", "the nightly backup job", "the search index", "an expired certificate",
	},
	doings: []string{
		"keep the previous version for a week", "ask the owner for a second opinion", "retry with exponential backoff and jitter",
		"read the changelog of both libraries", "switch the traffic over slowly", "write the failing test", "lower the batch size",
	},
	reasons: []string{
		"the server sheds load in bursts", "two people had changed it at once", "nobody remembers why it was done that way",
		"the default timeout is shorter than the longest query", "the driver closes idle connections silently",
		"an index was missing on the foreign key", "the price includes tax in some countries",
	},
}

var chinese = language{
	forms: []string{
		"SITUATIONTHING的时候，先DOING，因为REASON。",
		"处理THING之前要DOING；REASON，NAME 需要NUMBER分钟才能恢复（NAMES）。",
		"在 NAME 里我们发现REASON，于是DOING，然后再看THING。",
		"SITUATIONTHING试了NUMBER次以后，才知道REASON。",
	},
	situations: []string{"部署", "评审", "迁移", "测试", "配置", "调试", "回滚", "翻译", "加密", "培训"},
	things:     []string{"支付网关", "客户的收货地址", "每晚的备份任务", "搜索索引", "过期的证书", "季度销售报告", "消息队列", "退款申请", "供应商合同", "电话面试"},
	doings:     []string{"保留上一个版本一个星期", "请负责人再看一遍", "用指数退避重试", "阅读两个库的更新日志", "慢慢切换流量", "先写失败的测试", "减小批量", "检查每个时间戳的时区", "选择靠窗的座位", "和银行对账单核对总数"},
	reasons:    []string{"服务器会突然拒绝请求", "两个人同时改了它", "没有人记得当初为什么这样做", "默认超时比最长的查询还短", "驱动会悄悄关闭空闲连接", "她对坚果过敏，只说过一次", "磁盘快满了", "令牌在午夜过期", "外键上缺少索引", "会议改到了星期四"},
}
