package serve

import (
	"encoding/base64"
	"encoding/hex"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
)

// InclusionOf is a proof as the API shows it, and as annals verify reads it.
func InclusionOf(made domain.Inclusion) api.Inclusion {
	out := api.Inclusion{
		EventID: made.EventID, Stream: made.Stream, Position: made.Position, Hash: hex.EncodeToString(made.Hash),
		Record: made.Record, Path: Map(made.Path, Base64), Checkpoint: CheckpointOf(made.Checkpoint),
	}
	if made.Leaf != (domain.Digest{}) {
		out.Leaf = Base64(made.Leaf)
	}
	return out
}

// CheckpointOf is a signed checkpoint as the API shows it.
func CheckpointOf(c domain.Checkpoint) api.Checkpoint {
	return api.Checkpoint{Origin: c.Origin, Size: c.Size, Root: Base64(c.Root), Note: c.Note}
}

// Base64 is a digest as the API shows it.
func Base64(digest domain.Digest) string { return base64.StdEncoding.EncodeToString(digest[:]) }
