package serve

import (
	"encoding/base64"
	"encoding/hex"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
)

// InclusionOf is the proof that an event is in the log.
func InclusionOf(made domain.Inclusion) api.Inclusion {
	out := api.Inclusion{
		EventID: made.EventID, Stream: made.Stream, Position: made.Position, Hash: hex.EncodeToString(made.Hash),
		Record: made.Record, Path: Map(made.Path, Digest), Checkpoint: CheckpointOf(made.Checkpoint),
	}
	if made.Leaf != (domain.Digest{}) {
		out.Leaf = Digest(made.Leaf)
	}
	return out
}

// CheckpointOf is a signed checkpoint.
func CheckpointOf(c domain.Checkpoint) api.Checkpoint {
	return api.Checkpoint{Origin: c.Origin, Size: c.Size, Root: Digest(c.Root), Note: c.Note}
}

// Digest is a digest in base64.
func Digest(digest domain.Digest) string { return base64.StdEncoding.EncodeToString(digest[:]) }
