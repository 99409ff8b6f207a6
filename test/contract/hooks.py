"""What the OpenAPI document cannot say of valid requests, for the generator.

Only requests that are meant to be valid are touched: those that are meant to be refused go out as they were made.
"""

import hashlib
import itertools
import os
import re

import schemathesis

# Of R-18: https, no user info, no fragment, a host with a public address.
SUBSCRIBER_URL = re.compile(r"https://[a-z0-9]+(\.[a-z0-9]+)*\.(com|net|org|example)(:[1-9][0-9]{0,3})?([/?][!-\"$-\[\]-~]*)?")


# Of the keys that the run calls with: if they were revoked, every further call would be refused.
KEPT_KEY_IDS = os.environ.get("CONTRACT_KEY_IDS", "").split(",")
# A subscription and one of its replays, both of the fleet of the first key: an id of either alone is of no use.
REPLAY = dict(zip(("id", "replayId"), os.environ.get("CONTRACT_REPLAY", "").split("/")))
NO_ID = "00000000-0000-4000-8000-000000000000"
# Rings have rules between their positions: closed, no crossings, not round the earth.
RING = [[[13.3, 52.4], [13.5, 52.4], [13.5, 52.6], [13.3, 52.6], [13.3, 52.4]]]

FIRST_DATE = "2000-01-01T00:00:00.000Z"
LAST_DATE = "9999-12-31T23:59:59.999Z"

calls = itertools.count()


@schemathesis.hook
def before_load_schema(ctx, raw_schema):
    """Today there are no other fields and values than the document names: one that it does not name is a failure here."""
    for name in ("paths", "components"):
        close(raw_schema[name])


def close(schema):
    if isinstance(schema, list):
        for inner in schema:
            close(inner)
    if not isinstance(schema, dict):
        return
    if "x-extensible-enum" in schema:
        schema["enum"] = schema.pop("x-extensible-enum")
    if schema.get("type") == "object" and "properties" in schema:
        schema.setdefault("additionalProperties", False)
    for inner in schema.values():
        close(inner)


@schemathesis.hook
def before_call(ctx, case, kwargs):
    if case.method == "DELETE" and (case.path_parameters or {}).get("id") in KEPT_KEY_IDS:
        case.path_parameters["id"] = NO_ID
    if case.meta is None or case.meta.generation.mode != schemathesis.GenerationMode.POSITIVE:
        return
    fit_headers(case)
    if "replayId" in (case.path_parameters or {}):
        case.path_parameters.update(REPLAY)
    # By chance none of the ids that the run has seen may come, and it would say that it never got further than a 404.
    if case.operation.path.endswith("/{id}/replays"):
        case.path_parameters["id"] = REPLAY["id"]
    if case.query:
        # Only the service makes one, and it is good for the query that it came from alone.
        case.query.pop("pageState", None)
        order_window(case.query)
        # How many steps fit one answer depends on the window.
        if "step" in case.query:
            case.query["step"] = "day"
    if isinstance(case.body, dict):
        fit_body(case.body)


def fit_headers(case):
    for name in list(case.headers or {}):
        # A key is good for one request, and whether a tag is the current one no schema can say.
        if name.lower() == "idempotency-key":
            case.headers[name] = f"request-{next(calls)}"
        elif name.lower() == "if-match":
            case.headers[name] = "*"


def fit_body(body):
    order_window(body)
    make_reachable(body, "url")
    make_reachable(body, "returnUrl")
    if isinstance(body.get("auth"), dict):
        make_reachable(body["auth"], "tokenUrl")
    # Which texts are logos, and which subscriptions the fleet has, no schema says.
    if isinstance(body.get("logoUrl"), str):
        body["logoUrl"] = "https://app.example.com/logo.png"
    body.pop("subscriptionIds", None)
    if isinstance(body.get("headers"), list):
        fit_custom_headers(body)
    # A certificate and its key are a pair: always without.
    if "clientCertificate" in body:
        body["clientCertificate"] = None
    shape = body.get("shape")
    if isinstance(shape, dict) and "coordinates" in shape:
        shape["coordinates"] = RING


def fit_custom_headers(body):
    """No reserved names, none twice, and not more than 4,096 bytes: rules between several fields."""
    for number, header in enumerate(body["headers"]):
        header["name"] = f"x-fuzzed-{number}"
        if len(header["value"]) > 100:
            header["value"] = "long"


def order_window(fields):
    """endDate must be after startDate: a rule between two fields."""
    if "startDate" in fields and "endDate" in fields:
        fields["endDate"] = LAST_DATE
        # A stateful step may hand the end of an earlier request on as the start of this one.
        if fields["startDate"] == LAST_DATE:
            fields["startDate"] = FIRST_DATE


def make_reachable(fields, name):
    """Replaces a URL that R-18 refuses by one that it takes, always by the same."""
    given = fields.get(name)
    if isinstance(given, str) and not SUBSCRIBER_URL.fullmatch(given):
        digest = hashlib.sha256(given.encode("utf-8", "surrogatepass")).hexdigest()
        fields[name] = f"https://{digest[:20]}.example/hook?{digest[20:24]}"
