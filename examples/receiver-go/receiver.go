// SECRET=whsec_... PORT=9000 go run .
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"waypost.example/webhooks"
)

func main() {
	verifier, err := webhooks.NewVerifier(os.Getenv("SECRET"))
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
	log.Fatal(http.Serve(listener, receiver(verifier)))
}

func receiver(verifier *webhooks.Verifier) http.Handler {
	// The same event may come again, under the same id. Remember ids where they outlive the process.
	var handled sync.Map
	handleOnce := func(eventID, eventType string, eventTime time.Time, deviceID string) {
		if _, again := handled.LoadOrStore(eventID, true); !again {
			fmt.Println(eventType, eventTime.UTC().Format("2006-01-02T15:04:05.000Z07:00"), deviceID, eventID)
		}
	}
	return http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(io.LimitReader(request.Body, 1<<20))
		if err != nil {
			// To return without a status would be a 200.
			fmt.Println("refused", err)
			response.WriteHeader(http.StatusBadRequest)
			return
		}
		// Over the bytes as they came: JSON that was parsed and written again has another signature.
		webhook, err := verifier.Verify(body, request.Header)
		if err != nil {
			fmt.Println("refused", err)
			response.WriteHeader(http.StatusUnauthorized)
			return
		}
		// The format is that of the subscription; a new one has v1.
		if event := webhook.Event; event != nil {
			handleOnce(event.EventID, event.EventType, event.EventTime, event.Data.Common().DeviceID)
		} else if event := webhook.Legacy; event != nil {
			handleOnce(event.EventID, event.Event, time.UnixMilli(event.Timestamp), event.DeviceID)
		}
		// Types that you do not expect get a 2xx too.
		response.WriteHeader(http.StatusNoContent)
	})
}
