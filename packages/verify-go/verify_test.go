package webhooks

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"testing"
	"time"
)

type vector struct {
	Name             string            `json:"name"`
	Secrets          []string          `json:"secrets"`
	NowSeconds       int64             `json:"nowSeconds"`
	ToleranceSeconds int64             `json:"toleranceSeconds"`
	Headers          map[string]string `json:"headers"`
	Body             string            `json:"body"`
	Expected         outcome           `json:"expected"`
}

type outcome struct {
	OK        bool   `json:"ok"`
	Reason    string `json:"reason"`
	Format    string `json:"format"`
	EventType string `json:"eventType"`
}

// vectors are those that all verifiers share.
func vectors(t *testing.T) []vector {
	t.Helper()
	text, err := os.ReadFile("../vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vectors []vector `json:"vectors"`
	}
	if err := json.Unmarshal(text, &file); err != nil || len(file.Vectors) < 30 {
		t.Fatal(err, len(file.Vectors))
	}
	return file.Vectors
}

func outcomeOf(t *testing.T, vector vector) outcome {
	t.Helper()
	verifier, err := NewVerifier(vector.Secrets...)
	if err != nil {
		t.Fatal(err)
	}
	verifier.Now = func() time.Time { return time.Unix(vector.NowSeconds, 0) }
	verifier.Tolerance = time.Duration(vector.ToleranceSeconds) * time.Second
	header := http.Header{}
	for name, value := range vector.Headers {
		header.Set(name, value)
	}
	webhook, err := verifier.Verify([]byte(vector.Body), header)
	var refused *Refused
	switch {
	case errors.As(err, &refused):
		return outcome{Reason: string(refused.Reason)}
	case err != nil:
		t.Fatal(err)
	case webhook.Event != nil:
		return outcome{OK: true, Format: "v1", EventType: webhook.Event.EventType}
	case webhook.Legacy != nil:
		return outcome{OK: true, Format: "legacy-v1", EventType: webhook.Legacy.Event}
	}
	return outcome{OK: true, Format: "unknown"}
}

func TestVectors(t *testing.T) {
	for _, vector := range vectors(t) {
		t.Run(vector.Name, func(t *testing.T) {
			if found := outcomeOf(t, vector); found != vector.Expected {
				t.Errorf("got %+v, want %+v", found, vector.Expected)
			}
		})
	}
}

func TestModels(t *testing.T) {
	for _, vector := range vectors(t) {
		if vector.Expected.EventType != "route_finished" {
			continue
		}
		webhook := Recognize([]byte(vector.Body))
		data, isRoute := webhook.Event.Data.(*RouteFinishedData)
		if !isRoute || data.EndLocation != (Place{52.52, 13.405}) || data.DeviceID != "van-1" || data.VehicleID != nil {
			t.Errorf("got %+v", webhook.Event)
		}
		return
	}
	t.Error("no vector of route_finished")
}

func TestUnrecognized(t *testing.T) {
	for _, body := range []string{"null", "1", "[]", "{}", `{"eventType":["position"]}`, `{"event":"takeoff"}`} {
		if string(Recognize([]byte(body)).Unknown) != body {
			t.Errorf("%s was recognized", body)
		}
	}
}

func TestMistakenSecrets(t *testing.T) {
	for _, secrets := range [][]string{{}, {""}, {"whsec_"}, {"whsec_%%%"}, {"AQEBAQEBAQEB"}} {
		if _, err := NewVerifier(secrets...); err == nil {
			t.Errorf("%q was accepted", secrets)
		}
	}
}
