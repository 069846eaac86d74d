package console

// inChinese are the texts of the pages. A test finds those that are missing.
var inChinese = map[string]string{}
