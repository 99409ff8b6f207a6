// Package webhooks verifies the webhooks of Waypost, with typed events. Standard library only.
package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Reason says why a delivery was refused.
type Reason string

const (
	MissingHeaders   Reason = "missing_headers"
	MalformedHeaders Reason = "malformed_headers"
	TimestampTooOld  Reason = "timestamp_too_old"
	TimestampTooNew  Reason = "timestamp_too_new"
	WrongSignature   Reason = "wrong_signature"
	MalformedBody    Reason = "malformed_body"
)

// Refused is the error of a delivery that does not verify. Its text holds neither a secret nor the body.
type Refused struct {
	Reason  Reason
	Message string
}

func (refused *Refused) Error() string { return string(refused.Reason) + ": " + refused.Message }

// Data is a pointer to the struct of a type of event, such as *GeofenceInData.
type Data interface {
	// Common gives the fields that every type has.
	Common() *EventData
}

// Common gives the fields that every type has.
func (data *EventData) Common() *EventData { return data }

// Event is a body of the format v1.
type Event struct {
	EventID   string
	EventTime time.Time
	EventType string
	Data      Data
}

// Webhook is a verified delivery. Exactly one of Event, Legacy and Unknown is set: Unknown is a body of a type that
// this version does not know, which gets a 2xx all the same.
type Webhook struct {
	SignedAt time.Time
	Event    *Event
	Legacy   *LegacyEvent
	Unknown  json.RawMessage
}

// Verifier checks deliveries with the secrets of a receiver. It may be used by several goroutines.
type Verifier struct {
	// Tolerance is how old or how far in the future a signature may be; NewVerifier sets five minutes.
	Tolerance time.Duration
	// Now is the clock.
	Now  func() time.Time
	keys [][]byte
}

// NewVerifier takes secrets as they were shown ("whsec_..."). Of several, as during a rotation, one has to fit.
func NewVerifier(secrets ...string) (*Verifier, error) {
	verifier := &Verifier{Tolerance: 5 * time.Minute, Now: time.Now}
	for _, secret := range secrets {
		text, isSecret := strings.CutPrefix(secret, "whsec_")
		key, err := base64.StdEncoding.DecodeString(text)
		if !isSecret || err != nil || len(key) == 0 {
			return nil, errors.New(`a secret is "whsec_" and base64`)
		}
		verifier.keys = append(verifier.keys, key)
	}
	if len(verifier.keys) == 0 {
		return nil, errors.New("a verifier needs at least one secret")
	}
	return verifier, nil
}

// claim is what one of the two schemes says: these signatures, of this text before the body.
type claim struct {
	seconds    int64
	prefix     string
	signatures [][]byte
}

// Verify checks webhook-signature of Standard Webhooks and X-Service-Signature: one is enough, and those that are there
// must all hold. body is what came, before it is parsed. Every error is a *Refused.
func (verifier *Verifier) Verify(body []byte, header http.Header) (*Webhook, error) {
	claims, refused := claimsOf(header)
	if refused != nil {
		return nil, refused
	}
	now := verifier.Now().Unix()
	tolerance := int64(verifier.Tolerance / time.Second)
	for _, claim := range claims {
		if claim.seconds < now-tolerance {
			return nil, &Refused{TimestampTooOld, "it was signed too long ago"}
		}
		if claim.seconds > now+tolerance {
			return nil, &Refused{TimestampTooNew, "it was signed in the future"}
		}
		if !verifier.holds(claim, body) {
			return nil, &Refused{WrongSignature, "no signature fits the body and a secret"}
		}
	}
	if !utf8.Valid(body) || !json.Valid(body) {
		return nil, &Refused{MalformedBody, "the body is signed, but it is not JSON"}
	}
	webhook := Recognize(body)
	webhook.SignedAt = time.Unix(claims[0].seconds, 0).UTC()
	return webhook, nil
}

// Recognize makes an event of a body that is already verified, for example one that the history gave.
func Recognize(body []byte) *Webhook {
	var head struct {
		EventID   string          `json:"eventId"`
		EventTime time.Time       `json:"eventTime"`
		EventType string          `json:"eventType"`
		EventData json.RawMessage `json:"eventData"`
		Event     string          `json:"event"`
	}
	unknown := &Webhook{Unknown: append(json.RawMessage(nil), body...)}
	if json.Unmarshal(body, &head) != nil {
		return unknown
	}
	if data := newData(head.EventType); data != nil {
		if json.Unmarshal(head.EventData, data) != nil {
			return unknown
		}
		return &Webhook{Event: &Event{head.EventID, head.EventTime, head.EventType, data}}
	}
	legacy := &LegacyEvent{}
	if newData(head.Event) == nil || json.Unmarshal(body, legacy) != nil {
		return unknown
	}
	return &Webhook{Legacy: legacy}
}

func claimsOf(header http.Header) ([]*claim, *Refused) {
	id, hasID := read(header, "webhook-id")
	timestamp, hasTimestamp := read(header, "webhook-timestamp")
	signature, hasSignature := read(header, "webhook-signature")
	own, hasOwn := read(header, "x-service-signature")
	var claims []*claim
	if hasID && hasTimestamp && hasSignature {
		standard := standardClaim(id, timestamp, signature)
		if standard == nil {
			return nil, &Refused{MalformedHeaders, "the webhook-* headers are malformed"}
		}
		claims = append(claims, standard)
	}
	if hasOwn {
		service := ownClaim(own)
		if service == nil {
			return nil, &Refused{MalformedHeaders, "X-Service-Signature is not t=<unix seconds>,v1=<hex>"}
		}
		claims = append(claims, service)
	}
	if len(claims) == 0 {
		return nil, &Refused{MissingHeaders, "there are neither all three webhook-* headers nor X-Service-Signature"}
	}
	return claims, nil
}

// read gives the only value of a header; one that is there several times counts as empty, which is malformed.
func read(header http.Header, name string) (string, bool) {
	values := header.Values(name)
	if len(values) == 1 {
		return values[0], true
	}
	return "", len(values) > 1
}

func standardClaim(id, timestamp, signature string) *claim {
	found := &claim{prefix: id + "." + timestamp + "."}
	for _, part := range strings.Split(signature, " ") {
		if text, isV1 := strings.CutPrefix(part, "v1,"); isV1 {
			if decoded, err := base64.StdEncoding.DecodeString(text); err == nil {
				found.signatures = append(found.signatures, decoded)
			}
		}
	}
	var isTime bool
	found.seconds, isTime = secondsOf(timestamp)
	if id == "" || !isTime || len(found.signatures) == 0 {
		return nil
	}
	return found
}

func ownClaim(header string) *claim {
	found := &claim{}
	times := 0
	isTime := false
	for _, part := range strings.Split(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			times++
			found.prefix = value + "."
			found.seconds, isTime = secondsOf(value)
		case "v1":
			if decoded, err := hex.DecodeString(value); err == nil && len(decoded) > 0 {
				found.signatures = append(found.signatures, decoded)
			}
		}
	}
	if times != 1 || !isTime || len(found.signatures) == 0 {
		return nil
	}
	return found
}

// Digits only: a signature of one scheme must not be readable as one of the other.
var digits = regexp.MustCompile(`^[0-9]{1,12}$`)

func secondsOf(text string) (int64, bool) {
	seconds, err := strconv.ParseInt(text, 10, 64)
	return seconds, err == nil && digits.MatchString(text)
}

func (verifier *Verifier) holds(claim *claim, body []byte) bool {
	fits := false
	for _, key := range verifier.keys {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(claim.prefix))
		mac.Write(body)
		expected := mac.Sum(nil)
		for _, signature := range claim.signatures {
			fits = hmac.Equal(expected, signature) || fits
		}
	}
	return fits
}
