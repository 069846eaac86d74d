package domain

import "time"

// File is bytes that are no text. It has the id of the item whose bytes it is, or one of its own while it
// waits to become an item.
type File struct {
	ID          string
	Waits       bool
	Uploader    Entity
	Name        string
	ContentType string
	Bytes       []byte
	UploadedAt  time.Time
}
