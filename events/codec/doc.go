// Package codec encodes and decodes facts.
//
// Its one rule: recorded bytes are never rewritten and stay readable for ever. A fact is two JSON objects. data holds
// the plain fields, in the event, for ever; text holds what people wrote, beside the event, and can be erased. The
// tags of the facts in package domain assign the fields. A new optional field needs a tag; any other change needs a
// new schema version and an upcaster.
package codec
