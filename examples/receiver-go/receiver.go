// SECRET=whsec_... PORT=9000 go run .
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// event is the envelope; eventData differs by type.
type event struct {
	EventID   string `json:"eventId"`
	EventTime string `json:"eventTime"`
	EventType string `json:"eventType"`
	EventData struct {
		DeviceID string `json:"deviceId"`
	} `json:"eventData"`
}

func main() {
	webhook, err := standardwebhooks.NewWebhook(os.Getenv("SECRET"))
	if err != nil {
		log.Fatal(err)
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "9000"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening")
	log.Fatal(http.Serve(listener, receiver(webhook)))
}

func receiver(webhook *standardwebhooks.Webhook) http.Handler {
	// The same event may come again, under the same id. Remember ids where they outlive the process.
	var handled sync.Map
	return http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(io.LimitReader(request.Body, 1<<20))
		if err != nil {
			// To return without a status would be a 200.
			response.WriteHeader(http.StatusBadRequest)
			return
		}
		// Over the bytes as they came: JSON that was parsed and written again has another signature.
		if err := webhook.Verify(body, request.Header); err != nil {
			fmt.Println("refused", err)
			response.WriteHeader(http.StatusUnauthorized)
			return
		}
		var received event
		if err := json.Unmarshal(body, &received); err != nil {
			response.WriteHeader(http.StatusBadRequest)
			return
		}
		if _, again := handled.LoadOrStore(received.EventID, true); !again {
			fmt.Println(received.EventType, received.EventTime, received.EventData.DeviceID, received.EventID)
		}
		// Types that you do not expect get a 2xx too.
		response.WriteHeader(http.StatusNoContent)
	})
}
