// Package codec turns facts into bytes and back.
//
// Its one rule: what was recorded is never written again and is read for ever. A fact is two JSON
// objects: data, the plain fields, lies in the event for ever; text, what people wrote, lies beside it
// and can be destroyed. The tags of the facts in package domain say which field goes where. A new
// optional field gets a tag; any other change takes a new schema version and an upcaster.
package codec
