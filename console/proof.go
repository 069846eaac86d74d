package console

import (
	"net/http"
	"net/url"
	"regexp"

	"github.com/annals-kb/annals/client"
)

// proofPage is the page on which the browser verifies proofs. The server only names the event.
type proofPage struct {
	Event    string   // its id; empty for none, or none that the caller may see
	Commands []string // that verify the same without this page
}

// idPattern matches what the API accepts as an event's id.
var idPattern = regexp.MustCompile(`^[0-9A-Fa-f-]{36}$`)

// readProof is the page of proofs. The script of the page asks the API.
func readProof(p *page) (any, error) {
	var data proofPage
	id, err := eventID(p, p.param("event"))
	if err != nil {
		return nil, err
	}
	if !idPattern.MatchString(id) {
		id = "EVENT_ID"
	} else {
		data.Event = id
		p.note(client.Get("v1", "log", "proof", id))
	}
	data.Commands = []string{
		"annals proof event " + id + " --json > proof.json",
		"annals verify proof.json --key KEY",
		"annals proof consistency checkpoint.txt --key KEY",
	}
	p.note(client.Get("v1", "log", "checkpoint"))
	p.note(client.Request{
		Method: http.MethodGet, Path: []string{"v1", "log", "consistency"}, Query: url.Values{"from": {"SIZE"}},
	})
	return data, nil
}

var proofInChinese = map[string]string{
	"The browser verifies by itself, with SHA-256 and Ed25519, that the signed log contains an event, or that it " +
		"continues a checkpoint that you kept. Of what you paste or open, only the size of a checkpoint or the id of an " +
		"event is sent.": "浏览器使用 SHA-256 和 Ed25519 自行验证：已签名的日志包含某个事件，或者它延续了你保存的检查点。" +
		"你粘贴或打开的内容中，只会发送检查点的大小或事件的 ID。",
	"There is no such event, or you may not see it.": "没有这个事件，或你无权查看。",
	"This browser cannot verify here. It needs WebCrypto with Ed25519, which browsers offer only over HTTPS and on " +
		"localhost. Use the commands below.": "此浏览器在这里无法验证。验证需要支持 Ed25519 的 WebCrypto，浏览器只在 HTTPS 或 localhost 上提供它。请使用下面的命令。",
	"Without JavaScript, use the commands below.": "没有 JavaScript 时，请使用下面的命令。",
	"Event id or position":                        "事件 ID 或位置", "Prove the event": "证明该事件", "Verify again": "再次验证",
	"All that needs no key is verified. Give the log's public key, so that the signature is verified, too.": "不需要公钥的部分都已验证。" +
		"请提供日志的公钥，以便同时验证签名。",
	"Public key": "公钥", "NAME+HASH+KEY, from a source that you trust": "NAME+HASH+KEY，来自你信任的来源",
	"Remember in this browser": "在此浏览器中记住", "Use the server's key": "使用服务器的公钥",
	"This browser remembers this key.":                                                    "此浏览器已记住这个公钥。",
	"This is not the key that this browser remembers.":                                    "这不是此浏览器记住的公钥。",
	"The server now names another key than the one that this browser remembers.":          "服务器现在给出的公钥与此浏览器记住的不同。",
	"The server itself claims that this is its key. Compare it with another source once.": "这只是服务器自己的声明。请与另一来源核对一次。",
	"The request failed:": "请求失败：", "passed": "通过", "failed": "失败",
	"Verified: the signed log contains this event, unchanged.":       "验证通过：已签名的日志包含此事件，且未被更改。",
	"Not verified. The steps below say what differs.":                "验证未通过。下面的步骤说明差异所在。",
	"Verified: the log continues the checkpoint that you kept.":      "验证通过：日志延续了你保存的检查点。",
	"The record has the stored hash":                                 "记录与存储的哈希一致",
	"The fields of the record are not those that were hashed.":       "记录的字段不是当初计算哈希的内容。",
	"What surrounds the record repeats it":                           "记录之外的字段与记录一致",
	"These fields differ from the record, or are not hashed.":        "这些字段与记录不同，或未被哈希。",
	"The path leads from the hash to the root":                       "路径从该哈希通向根",
	"No event with this hash is at this position of the signed log.": "已签名日志的这个位置没有此哈希的事件。",
	"The checkpoint's fields are those of the signed note":           "检查点的字段与已签名的文本一致",
	"These fields differ from what was signed.":                      "这些字段与已签名的内容不同。",
	"The key is whole":                                               "公钥完整",
	"No key was given, or it is damaged.":                            "没有给出公钥，或公钥已损坏。",
	"The key signed the checkpoint":                                  "该公钥签署了检查点",
	"The signature is not by this key, or is wrong.":                 "签名不是由该公钥签署的，或签名有误。",
	"The key signed the kept checkpoint":                             "该公钥签署了保存的检查点",
	"The key signed the server's checkpoint":                         "该公钥签署了服务器的检查点",
	"Both are of the same log":                                       "两者属于同一日志",
	"They are of two logs.":                                          "它们属于两个日志。",
	"The log has not become shorter":                                 "日志没有变短",
	"The log was cut: it has fewer events than the kept checkpoint.": "日志被截断：事件数少于保存的检查点。",
	"The log begins with the events of the kept checkpoint":          "日志以保存的检查点中的事件开头",
	"Events that were signed have been changed since.":               "签名之后，事件被更改过。",
	"Looking for a single changed character …":                       "正在查找被更改的单个字符……",
	"One character of this field was changed:":                       "此字段的一个字符被更改：", "It was recorded as": "当初的记录是",
	"The server's record differs from the kept one in": "服务器的记录与保存的记录在以下字段不同：",
	"What was verified": "被验证的内容", "Field": "字段", "Value": "值", "absent": "无",
	"Hashes from the leaf's neighbour upwards": "从叶的相邻节点向上的哈希",
	"A checkpoint or proof that you kept":      "你保存的检查点或证明", "A kept checkpoint": "保存的检查点",
	"Compare with the log now": "与现在的日志比较", "Or open a file: a checkpoint, or the proof of an event": "或打开文件：检查点，或事件的证明",
	"Verify it without this page": "不用此页面进行验证",
}
