export const LANGUAGES = ['TypeScript', 'Python', 'Go'] as const;
export type Language = (typeof LANGUAGES)[number];

/**
 * Receivers to start with, which run as they stand. They use the public libraries of Standard Webhooks, by which every
 * delivery is signed: each comes from the registry of its language, and others exist for more languages.
 */
export const VERIFICATION_CODE: Readonly<Record<Language, string>> = {
  TypeScript: `// npm install standardwebhooks @types/node
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET ?? '');

createServer(async (request, response) => {
  try {
    // Over the bytes as they came: JSON that was parsed and written again has another signature.
    const event = webhook.verify(await buffer(request), request.headers as Record<string, string>);
    console.log('received', event);
    response.writeHead(204).end();
  } catch (error) {
    console.log('refused', error);
    response.writeHead(401).end();
  }
}).listen(Number(process.env.PORT ?? 8080));
`,
  Python: `# pip install standardwebhooks
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["WEBHOOK_SECRET"])


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        # Over the bytes as they came: JSON that was parsed and written again has another signature.
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            print("received", webhook.verify(body, dict(self.headers)))
            self.send_response(204)
        except WebhookVerificationError as error:
            print("refused", error)
            self.send_response(401)
        self.end_headers()


ThreadingHTTPServer(("", int(os.environ.get("PORT", "8080"))), Receiver).serve_forever()
`,
  Go: `// go mod init receiver && go get github.com/standard-webhooks/standard-webhooks/libraries/go
package main

import (
	"cmp"
	"io"
	"log"
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	webhook, err := standardwebhooks.NewWebhook(os.Getenv("WEBHOOK_SECRET"))
	if err != nil {
		log.Fatal(err)
	}
	receive := func(response http.ResponseWriter, request *http.Request) {
		// Over the bytes as they came: JSON that was parsed and written again has another signature.
		body, err := io.ReadAll(request.Body)
		if err == nil {
			err = webhook.Verify(body, request.Header)
		}
		if err != nil {
			log.Print("refused ", err)
			response.WriteHeader(http.StatusUnauthorized)
			return
		}
		log.Printf("received %s", body)
		response.WriteHeader(http.StatusNoContent)
	}
	log.Fatal(http.ListenAndServe(":"+cmp.Or(os.Getenv("PORT"), "8080"), http.HandlerFunc(receive)))
}
`,
};
