"""SECRET=whsec_... PORT=9000 python receiver.py"""

import os
import threading
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from waypost_webhooks import verify

SECRET = os.environ["SECRET"]
handled: set[str] = set()
# Requests come in threads of their own.
lock = threading.Lock()


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        # Over the bytes as they came: JSON that was parsed and written again has another signature.
        result = verify(body, self.headers, SECRET)
        if not result.ok:
            with lock:
                print("refused", result.message, flush=True)
            self.answer(401)
            return
        event = result.event
        # The format is that of the subscription; a new one has v1.
        if result.format == "v1":
            self.handle_once(event.event_id, event.event_type, event.event_time, event.event_data.device_id)
        elif result.format == "legacy-v1":
            self.handle_once(event.event_id, event.event, iso(event.timestamp), event.device_id)
        # Types that you do not expect get a 2xx too.
        self.answer(204)

    def handle_once(self, event_id: str, event_type: str, event_time: str, device_id: str) -> None:
        # The same event may come again, under the same id. Remember ids where they outlive the process.
        with lock:
            if event_id not in handled:
                handled.add(event_id)
                print(event_type, event_time, device_id, event_id, flush=True)

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """One line an event is enough."""


def iso(epoch_ms: int) -> str:
    time = datetime.fromtimestamp(epoch_ms / 1_000, timezone.utc)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9000"))), Receiver)
    print("listening", flush=True)
    server.serve_forever()
