package standby

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
)

// What reads record goes to the primary's server in batches. A batch has one header: its time in seconds, the SHA-256
// of its body, and the HMAC of its kind and of both, with a key that only the servers know.

const (
	// BatchPath is where the primary's server takes batches. The kind follows.
	BatchPath = "/internal/batches/"
	// MaxBatch is the largest size of a batch in bytes.
	MaxBatch = 64 << 20

	batchHeader = "Annals-Batch"
	batchAge    = time.Minute // the oldest batch that is taken, and how far the clocks of servers may differ
)

// Send sends a batch of a kind to the primary's server, and reads the answer. It gives up after some seconds: then the
// batch may have been taken. The server there takes it again without harm.
func (f *Forwarder) Send(ctx context.Context, kind string, batch, answer any) error {
	const patience = 5 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := f.Check(ctx); err != nil {
		return err
	}
	body, err := json.Marshal(batch)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.Primary.JoinPath(BatchPath, kind).String(),
		bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", serve.JSONType)
	r.Header.Set(forwardedHeader, "1")
	r.Header.Set(batchHeader, sign(f.Key, kind, strconv.FormatInt(time.Now().Unix(), 10), digest(body)))
	taken, err := network.RoundTrip(r)
	if err != nil {
		return fmt.Errorf("send a batch to the primary's server: %w", err)
	}
	defer taken.Body.Close() //nolint:errcheck // its content was read
	in := json.NewDecoder(io.LimitReader(taken.Body, 1<<20))
	if taken.StatusCode != http.StatusOK {
		var problem api.Problem
		_ = in.Decode(&problem) // the status says enough
		return fmt.Errorf("the primary's server answered a batch with %d: %s", taken.StatusCode, problem.Detail)
	}
	return in.Decode(&answer)
}

func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// sign is the header of a batch.
func sign(key []byte, kind, at, digest string) string {
	mac := hmac.New(sha256.New, key)
	_, _ = io.WriteString(mac, kind+" "+at+" "+digest)
	return at + " " + digest + " " + hex.EncodeToString(mac.Sum(nil))
}

// Take writes a batch, which read decodes. It may be a batch that was taken before, whose answer was lost.
type Take = func(ctx context.Context, read func(batch any) error) (answer any, err error)

// Batches takes batches at the primary's server.
type Batches struct {
	Key   []byte // that of [Forwarder]
	Takes map[string]Take
	Now   func() time.Time // nil for time.Now
}

// Answer takes a batch. It reads no more than the header of one that no server signed.
func (b Batches) Answer(w http.ResponseWriter, r *http.Request) error {
	kind := strings.TrimPrefix(r.URL.Path, BatchPath)
	take := b.Takes[kind]
	if take == nil || r.Method != http.MethodPost {
		return domain.Refuse(serve.ErrRoute, "there is nothing at this path")
	}
	wanted, err := b.signed(kind, r.Header.Get(batchHeader))
	if err != nil {
		return err
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return fmt.Errorf("%w: read a batch: %w", domain.ErrMalformed, err)
	}
	if digest(body) != wanted {
		return refused("is not what was signed")
	}
	answer, err := take(r.Context(), func(batch any) error {
		if json.Unmarshal(body, batch) != nil {
			return domain.Refuse(domain.ErrMalformed, "the batch cannot be read")
		}
		return nil
	})
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", serve.JSONType)
	return json.NewEncoder(w).Encode(answer)
}

// signed is the digest in a header, if a server signed it a moment ago.
func (b Batches) signed(kind, header string) (digest string, err error) {
	at, rest, _ := strings.Cut(header, " ")
	digest, _, _ = strings.Cut(rest, " ")
	if !hmac.Equal([]byte(header), []byte(sign(b.Key, kind, at, digest))) {
		return "", refused("was not signed with the signing key of this server")
	}
	now := time.Now
	if b.Now != nil {
		now = b.Now
	}
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil || now().Sub(time.Unix(seconds, 0)).Abs() > batchAge {
		return "", refused("is older than " + batchAge.String() + ", or the clocks of the servers differ")
	}
	return digest, nil
}

func refused(why string) error {
	return domain.Refuse(domain.ErrUnauthenticated, "the batch %s", why)
}
