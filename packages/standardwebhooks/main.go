// Prints what the public library says to each vector: {name: "accepts" | "refuses"}. It reads no clock but its own, so
// vectors that turn on the time are left out.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

type vector struct {
	Name     string            `json:"name"`
	Secrets  []string          `json:"secrets"`
	Headers  map[string]string `json:"headers"`
	Body     string            `json:"body"`
	Opinion  string            `json:"standardwebhooks"`
	Expected struct {
		Reason string `json:"reason"`
	} `json:"expected"`
}

func main() {
	text, err := os.ReadFile("../vectors.json")
	if err != nil {
		log.Fatal(err)
	}
	var file struct {
		Vectors []vector `json:"vectors"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		log.Fatal(err)
	}
	opinions := map[string]string{}
	for _, vector := range file.Vectors {
		if vector.Opinion == "" || vector.Expected.Reason == "timestamp_too_old" || vector.Expected.Reason == "timestamp_too_new" {
			continue
		}
		opinions[vector.Name] = opinionOn(vector)
	}
	printed, err := json.Marshal(opinions)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(printed))
}

func opinionOn(vector vector) string {
	webhook, err := standardwebhooks.NewWebhook(vector.Secrets[0])
	if err != nil {
		log.Fatal(err)
	}
	header := http.Header{}
	for name, value := range vector.Headers {
		header.Set(name, value)
	}
	if webhook.VerifyIgnoringTimestamp([]byte(vector.Body), header) != nil {
		return "refuses"
	}
	return "accepts"
}
