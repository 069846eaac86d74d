package subscriptions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/annals-kb/annals/domain"
)

// cloudEvent is an event in the JSON format of CloudEvents 1.0.
type cloudEvent struct {
	SpecVersion     string    `json:"specversion"`
	ID              string    `json:"id"`
	Source          string    `json:"source"`
	Type            string    `json:"type"`
	Subject         string    `json:"subject,omitempty"`
	Time            time.Time `json:"time"`
	DataContentType string    `json:"datacontenttype"`
	Data            any       `json:"data"`
}

// source names a tenant's log in events.
func source(tenant string) string { return "urn:annals:" + tenant }

func (s *Subscriptions) cloudEventOf(tenant string, e domain.Event) cloudEvent {
	item, _ := domain.ItemOf(e.Stream)
	return cloudEvent{
		SpecVersion: "1.0", ID: e.EventID, Source: source(tenant), Type: "annals." + e.Name, Subject: item,
		Time: e.RecordedAt.UTC(), DataContentType: "application/json", Data: s.Show(e),
	}
}

// answer is the result of a post.
type answer struct {
	status int
	err    string        // why it failed, without anything that was received
	wait   time.Duration // that the receiver asked for
}

func (a answer) delivered() bool { return a.status >= 200 && a.status < 300 }

// post sends an event once. It reads nothing of the answer's body.
func (s sender) post(ctx context.Context, address string, secrets []string, event cloudEvent) answer {
	if len(secrets) == 0 {
		return answer{err: "the webhook has no secret: rotate it"}
	}
	body, err := json.Marshal(event)
	if err != nil {
		return answer{err: "the event cannot be written as JSON"}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return answer{err: "the URL cannot be used"}
	}
	now := s.now()
	var signatures []string
	for _, secret := range secrets {
		signatures = append(signatures, Sign(secret, event.ID, now, body))
	}
	for name, value := range map[string]string{
		"Content-Type": "application/cloudevents+json; charset=utf-8", "User-Agent": "Annals", "Webhook-Id": event.ID,
		"Webhook-Timestamp": strconv.FormatInt(now.Unix(), 10), "Webhook-Signature": strings.Join(signatures, " "),
	} {
		request.Header.Set(name, value)
	}
	response, err := s.Client.Do(request)
	switch {
	case err == nil:
	case errors.Is(err, s.Refused):
		return answer{err: "the name leads into a private network"}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return answer{err: "no answer in time"}
	default:
		return answer{err: "no connection"}
	}
	_ = response.Body.Close()
	a := answer{status: response.StatusCode, wait: retryAfter(response.Header.Get("Retry-After"), now)}
	if !a.delivered() {
		a.err = "answered with status " + strconv.Itoa(a.status)
	}
	return a
}

// retryAfter reads a number of seconds or a time; 0 if there is neither, and at most a day.
func retryAfter(header string, now time.Time) time.Duration {
	wait := time.Duration(0)
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(header); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, 0), 24*time.Hour)
}

// CheckURL describes why nothing is posted to a URL; empty if it can be tried.
func (s *Subscriptions) CheckURL(address string) string { return s.Check(address) }

// Ping posts an event without contents to a webhook now.
func (s *Subscriptions) Ping(ctx context.Context, tenant string, to domain.Subscribed) (domain.Pong, error) {
	secrets, err := s.secrets(ctx, tenant, to.ID)
	if err != nil {
		return domain.Pong{}, err
	}
	a := sender{s}.post(ctx, to.URL, secrets, cloudEvent{
		SpecVersion: "1.0", ID: uuid.Must(uuid.NewV7()).String(), Source: source(tenant), Type: "annals.ping",
		Time: s.now().UTC(), DataContentType: "application/json", Data: map[string]string{"subscription": to.ID},
	})
	return domain.Pong{Delivered: a.delivered(), Status: a.status, Error: a.err}, nil
}
