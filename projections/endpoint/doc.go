// Package endpoint sends requests to models behind OpenAI-compatible endpoints, of embeddings and of chats.
//
// Its one rule: an error repeats neither the key nor what was sent or answered.
package endpoint
