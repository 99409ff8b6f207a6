// Reads the deliveries of a fleet with a client that oapi-codegen has generated: the folder api beside it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"

	"generated/api"
)

func main() {
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))
		return nil
	}
	client, err := api.NewClientWithResponses(os.Getenv("API_URL"), api.WithRequestEditorFn(authorize))
	if err != nil {
		log.Fatal(err)
	}
	page := listEvents(client, 10)
	if page.JSON200 == nil {
		log.Fatalf("no page: %s", page.Body)
	}
	refused := listEvents(client, 0)
	if refused.JSON400 == nil {
		log.Fatalf("no error: %s", refused.Body)
	}
	deliveries := [][]any{}
	for _, event := range page.JSON200.Data {
		deliveries = append(deliveries, []any{event.EventType, event.Delivery.Status, event.Delivery.AttemptCount})
	}
	printed, err := json.Marshal(map[string]any{
		"deliveries": deliveries,
		"refusal":    refused.JSON400.Error.Code,
		"requestId":  len(refused.JSON400.Error.RequestId),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(printed))
}

func listEvents(client *api.ClientWithResponses, limit int) *api.ListEventsResponse {
	response, err := client.ListEventsWithResponse(context.Background(), &api.ListEventsParams{Limit: &limit})
	if err != nil {
		log.Fatal(err)
	}
	return response
}
