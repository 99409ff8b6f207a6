"""Prints what the public library says to each vector: {name: "accepts" | "refuses"}."""

import json
import pathlib
from datetime import datetime

import standardwebhooks.webhooks as library

VECTORS = pathlib.Path(__file__).resolve().parent.parent / "vectors.json"


def opinion(vector):
    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.fromtimestamp(vector["nowSeconds"], tz)

    library.datetime = Clock
    try:
        library.Webhook(vector["secrets"][0]).verify(vector["body"], vector["headers"], json_parse=False)
        return "accepts"
    except Exception:
        return "refuses"


vectors = json.loads(VECTORS.read_text(encoding="utf-8"))["vectors"]
print(json.dumps({vector["name"]: opinion(vector) for vector in vectors if "standardwebhooks" in vector}))
