"""SECRET=whsec_... PORT=9000 python receiver.py"""

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from waypost_webhooks import verify

SECRET = os.environ["SECRET"]
handled: set[str] = set()


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        # Over the bytes as they came: JSON that was parsed and written again has another signature.
        result = verify(body, self.headers, SECRET)
        if not result.ok:
            print("refused", result.message, flush=True)
            self.answer(401)
            return
        event = result.event
        # The same event may come again, under the same id. Remember ids where they outlive the process.
        if result.format == "v1" and event.event_id not in handled:
            handled.add(event.event_id)
            print(event.event_type, event.event_time, event.event_data.device_id, event.event_id, flush=True)
        # Types that you do not expect get a 2xx too.
        self.answer(204)

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """One line an event is enough."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9000"))), Receiver)
    print("listening", flush=True)
    server.serve_forever()
