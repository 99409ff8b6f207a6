"""The vectors that all verifiers share: python3 -m unittest discover packages/verify-python/tests"""

import json
import pathlib
import sys
import unittest
from email.message import Message

PACKAGE = pathlib.Path(__file__).resolve().parent.parent
if "--installed" not in sys.argv:
    sys.path.insert(0, str(PACKAGE / "src"))

import waypost_webhooks as webhooks  # noqa: E402

VECTORS = json.loads((PACKAGE.parent / "vectors.json").read_text(encoding="utf-8"))["vectors"]


def outcome(vector, headers):
    result = webhooks.verify(
        vector["body"].encode(),
        headers,
        vector["secrets"],
        tolerance_seconds=vector["toleranceSeconds"],
        now=vector["nowSeconds"],
    )
    if not result.ok:
        return {"ok": False, "reason": result.reason}
    if result.format == "unknown":
        return {"ok": True, "format": "unknown"}
    event_type = result.event.event_type if result.format == "v1" else result.event.event
    return {"ok": True, "format": result.format, "eventType": event_type}


class VerifyTest(unittest.TestCase):
    def test_vectors(self):
        self.assertGreater(len(VECTORS), 30)
        for vector in VECTORS:
            with self.subTest(vector["name"]):
                self.assertEqual(outcome(vector, vector["headers"]), vector["expected"])

    def test_headers_of_http_server(self):
        message = Message()
        for name, value in VECTORS[0]["headers"].items():
            message[name] = value
        self.assertEqual(outcome(VECTORS[0], message), VECTORS[0]["expected"])
        message["X-Service-Signature"] = "t=1,v1=00"
        self.assertEqual(outcome(VECTORS[0], message), {"ok": False, "reason": "malformed_headers"})

    def test_lone_surrogates(self):
        for name in ("webhook-id", "webhook-timestamp", "webhook-signature", "x-service-signature"):
            headers = {**VECTORS[0]["headers"], name: "\udcff" + VECTORS[0]["headers"][name]}
            with self.subTest(name):
                self.assertEqual(outcome(VECTORS[0], headers), {"ok": False, "reason": "malformed_headers"})
        result = webhooks.verify(
            "\udcff" + VECTORS[0]["body"],
            VECTORS[0]["headers"],
            VECTORS[0]["secrets"],
            now=VECTORS[0]["nowSeconds"],
        )
        self.assertEqual(result.reason, "wrong_signature")

    def test_models(self):
        route = next(v for v in VECTORS if v["expected"].get("eventType") == "route_finished")
        event = webhooks.recognize(json.loads(route["body"]))[1]
        self.assertEqual(event.event_data.end_location, webhooks.Place(latitude=52.52, longitude=13.405))
        self.assertEqual(event.event_data.distance_in_meters, 12034)
        self.assertIsNone(event.event_data.vehicle_id)

    def test_unrecognized(self):
        for parsed in (None, 1, [], {}, {"eventType": ["position"]}, {"eventType": "position"}, {"event": "takeoff"}):
            self.assertEqual(webhooks.recognize(parsed), ("unknown", parsed))

    def test_mistaken_secrets(self):
        for secret in ("", "whsec_", "whsec_%%%", "AQEBAQEBAQEB", []):
            with self.assertRaises(ValueError):
                webhooks.verify(b"{}", {}, secret)

    def test_mistaken_times(self):
        nan, infinity = float("nan"), float("inf")
        for times in ({"tolerance_seconds": nan}, {"now": nan}, {"now": infinity}):
            with self.subTest(times), self.assertRaises(ValueError):
                webhooks.verify(VECTORS[0]["body"], VECTORS[0]["headers"], VECTORS[0]["secrets"], **times)
        result = webhooks.verify(
            VECTORS[0]["body"], VECTORS[0]["headers"], VECTORS[0]["secrets"], tolerance_seconds=infinity, now=0
        )
        self.assertTrue(result.ok)


if __name__ == "__main__":
    unittest.main(argv=[argument for argument in sys.argv if argument != "--installed"])
