package api

// Page is one page of a list.
type Page[T any] struct {
	Items      []T    `json:"items" nullable:"false"`
	NextCursor string `json:"next_cursor,omitempty" doc:"Of the following page; missing at the end."`

	Receipt string `json:"receipt,omitempty" doc:"The id of the receipt of this page, if one is kept; also in the header Annals-Receipt."`
}
