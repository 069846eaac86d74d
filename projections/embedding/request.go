package embedding

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/annals-kb/annals/projections/endpoint"
)

// ErrRefused is matched by the error of a request that would fail again: a wrong key, an unknown model, a bad URL.
var ErrRefused = errors.New("embedding endpoint refused the request")

// ErrText is matched, besides ErrRefused, by the error of a request that the endpoint refused because of its texts.
// Other texts may succeed.
var ErrText = errors.New("embedding endpoint does not take this text")

// ErrQuota is matched by the error of a request that exceeds a limit of the endpoint, of requests or of money.
var ErrQuota = errors.New("quota of the embedding endpoint is used up")

// request is the body of POST {URL}/embeddings.
type request struct {
	Model          string   `json:"model"`
	Input          []string `json:"input"`
	EncodingFormat string   `json:"encoding_format"`
	Dimensions     int      `json:"dimensions,omitempty"`
}

// embed sends one batch.
func (o *OpenAI) embed(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(o.request(texts))
	if err != nil {
		return nil, err
	}
	limit := o.maxAnswer(len(texts))
	answer, err := o.client.Do(ctx, http.MethodPost, "/embeddings", body, limit+1)
	failed, is := errors.AsType[*endpoint.Error](err)
	switch {
	case is:
		return nil, refusal(failed)
	case err != nil:
		return nil, err
	case int64(len(answer)) > limit:
		return nil, fmt.Errorf("%w: larger than %d bytes", ErrAnswer, limit)
	}
	return parse(answer, len(texts), o.config.Dims)
}

// request asks for a number of dimensions only if the model is known to shorten its vectors and must do so.
func (o *OpenAI) request(texts []string) request {
	body := request{Model: o.config.Model, Input: texts, EncodingFormat: "float"}
	if o.known.shortens && o.known.dims != o.config.Dims {
		body.Dimensions = o.config.Dims
	}
	return body
}

// maxAnswer is larger than any valid answer: 32 bytes per number, and room for the rest.
func (o *OpenAI) maxAnswer(texts int) int64 {
	return int64(texts)*(int64(o.config.Dims)*32+1024) + 64<<10
}

// refusal tells the errors of an endpoint apart.
func refusal(failed *endpoint.Error) error {
	switch status := failed.Status; {
	case failed.Temporary && status == http.StatusTooManyRequests:
		return fmt.Errorf("%w: %w %w", ErrUnavailable, ErrQuota, failed)
	case failed.Temporary:
		return fmt.Errorf("%w %w", ErrUnavailable, failed)
	case status == http.StatusPaymentRequired:
		return fmt.Errorf("%w: %w: %w", ErrRefused, ErrQuota, failed)
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return fmt.Errorf("%w: %w: check its key", ErrRefused, failed)
	case status == http.StatusNotFound, status >= 300 && status < 400:
		return fmt.Errorf("%w: %w: check its URL, to which /embeddings is appended, and its model", ErrRefused, failed)
	case status == http.StatusBadRequest, status == http.StatusRequestEntityTooLarge,
		status == http.StatusUnprocessableEntity:
		return fmt.Errorf("%w: %w: %w", ErrRefused, ErrText, failed)
	default:
		return fmt.Errorf("%w: %w", ErrRefused, failed)
	}
}

// ErrAnswer is matched by the error of an answer that is not a list of embeddings.
var ErrAnswer = errors.New("embedding endpoint answered something else")

// answer is the body of a successful request.
type answer struct {
	Data []struct {
		Index     *int      `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
}

// parse reads count vectors of dims numbers and puts them in the order of their texts.
func parse(body []byte, count, dims int) ([][]float32, error) {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil { // which would repeat a part of the body
		if bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) {
			return nil, fmt.Errorf("%w: an HTML page: check its URL, to which /embeddings is appended", ErrAnswer)
		}
		return nil, fmt.Errorf("%w: no JSON of the expected form", ErrAnswer)
	}
	if len(a.Data) != count {
		return nil, fmt.Errorf("%w: %d vectors for %d texts", ErrAnswer, len(a.Data), count)
	}
	vectors := make([][]float32, count)
	for i, item := range a.Data {
		place := i
		if item.Index != nil {
			place = *item.Index
		}
		if place < 0 || place >= count || vectors[place] != nil {
			return nil, fmt.Errorf("%w: index %d twice or out of place", ErrAnswer, place)
		}
		if len(item.Embedding) != dims {
			return nil, fmt.Errorf("%w: got %d, want %d", ErrDimensions, len(item.Embedding), dims)
		}
		if err := Normalize(item.Embedding); err != nil {
			return nil, fmt.Errorf("%w: text %d: %w", ErrAnswer, place, err)
		}
		vectors[place] = item.Embedding
	}
	return vectors, nil
}
