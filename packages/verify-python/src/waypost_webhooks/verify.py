"""Checks a delivery (R-19, R-43) before its body is parsed, and makes an event of it."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import math
import re
import time
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal, Mapping, Optional, Sequence, Union, get_type_hints

from .events import EVENTS, LEGACY_EVENTS

Reason = Literal[
    "missing_headers",
    "malformed_headers",
    "timestamp_too_old",
    "timestamp_too_new",
    "wrong_signature",
    "malformed_body",
]


@dataclass(frozen=True)
class Verified:
    """Signed. `event` is a WebhookEvent, a LegacyWebhookEvent, or the parsed JSON of a type that is not known."""

    format: Literal["v1", "legacy-v1", "unknown"]
    event: Any
    signed_at: int
    ok: Literal[True] = True


@dataclass(frozen=True)
class Refused:
    """`message` says more than `reason`, and holds neither a secret nor the body."""

    reason: Reason
    message: str
    ok: Literal[False] = False


Verification = Union[Verified, Refused]


@dataclass(frozen=True)
class _Claim:
    """What one of the two schemes says: these signatures, of this text before the body."""

    seconds: int
    prefix: bytes
    signatures: Sequence[bytes]


def verify(
    body: Union[bytes, str],
    headers: Mapping[str, str],
    secret: Union[str, Sequence[str]],
    *,
    tolerance_seconds: float = 300,
    now: Optional[float] = None,
) -> Verification:
    """Checks `webhook-signature` of Standard Webhooks and `X-Service-Signature`: one is enough, and those that are
    there must all hold. With several secrets, as during a rotation, one has to fit. `now` is in seconds since 1970.

    Raises ValueError for a secret that is not `whsec_` and base64, and for a tolerance that is NaN or a time that is not
    finite: a mistake of the receiver, not of the request.
    """
    keys = [_key(one) for one in ([secret] if isinstance(secret, str) else secret)]
    if not keys:
        raise ValueError("verify() needs at least one secret.")
    now_seconds = time.time() if now is None else now
    # No comparison with NaN holds: every signature would be timely.
    if math.isnan(tolerance_seconds) or not math.isfinite(now_seconds):
        raise ValueError("verify() needs numbers for tolerance_seconds and now.")
    now_seconds = int(now_seconds)
    claims = _claims(headers)
    if isinstance(claims, Refused):
        return claims
    # A lone surrogate becomes bytes that are no UTF-8.
    data = body.encode(errors="surrogatepass") if isinstance(body, str) else bytes(body)
    for claim in claims:
        if claim.seconds < now_seconds - tolerance_seconds:
            return Refused("timestamp_too_old", f"It was signed {now_seconds - claim.seconds} s ago.")
        if claim.seconds > now_seconds + tolerance_seconds:
            return Refused("timestamp_too_new", f"It was signed {claim.seconds - now_seconds} s from now.")
        if not _holds(claim, data, keys):
            return Refused("wrong_signature", "No signature fits the body and a secret.")
    try:
        parsed = json.loads(data.decode())
    except ValueError:
        return Refused("malformed_body", "The body is signed, but it is not JSON.")
    format, event = recognize(parsed)
    return Verified(format, event, claims[0].seconds)


def recognize(parsed: Any) -> tuple[Literal["v1", "legacy-v1", "unknown"], Any]:
    """The format of a parsed body, for example one that the history gave, and the event that it is."""
    if isinstance(parsed, dict):
        v1 = EVENTS.get(_text(parsed.get("eventType")))
        legacy = LEGACY_EVENTS.get(_text(parsed.get("event")))
        try:
            if v1 is not None:
                return "v1", _model(v1, parsed)
            if legacy is not None:
                return "legacy-v1", _model(legacy, parsed)
        except TypeError:  # A required field is missing.
            pass
    return "unknown", parsed


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _model(model: type, values: dict[str, Any]) -> Any:
    """The dataclass of a JSON object, whose names are in camel case or in snake case; others are left out."""
    hints = get_type_hints(model)
    given = {}
    for field in fields(model):
        name = field.name if field.name in values else re.sub("_([a-z])", lambda m: m[1].upper(), field.name)
        if name in values:
            value, hint = values[name], hints[field.name]
            given[field.name] = _model(hint, value) if is_dataclass(hint) and isinstance(value, dict) else value
    return model(**given)


def _claims(headers: Mapping[str, str]) -> Union[list[_Claim], Refused]:
    present: dict[str, str] = {}
    for name, value in headers.items():
        lower = name.lower()
        # What is there several times is no delivery's.
        present[lower] = "" if lower in present else value
    trio = [present.get(name) for name in ("webhook-id", "webhook-timestamp", "webhook-signature")]
    own = present.get("x-service-signature")
    claims: list[_Claim] = []
    if all(part is not None for part in trio):
        standard = _standard_claim(*[part or "" for part in trio])
        if standard is None:
            return Refused("malformed_headers", "The webhook-* headers are malformed.")
        claims.append(standard)
    if own is not None:
        service = _own_claim(own)
        if service is None:
            return Refused("malformed_headers", "X-Service-Signature is not t=<unix seconds>,v1=<hex>.")
        claims.append(service)
    if not claims:
        return Refused("missing_headers", "There are neither all three webhook-* headers nor X-Service-Signature.")
    return claims


def _standard_claim(id: str, timestamp: str, signature: str) -> Optional[_Claim]:
    seconds = _seconds(timestamp)
    decoded = [_from_base64(part[3:]) for part in signature.split(" ") if part.startswith("v1,")]
    signatures = [one for one in decoded if one is not None]
    if id == "" or seconds is None or not signatures:
        return None
    try:
        return _Claim(seconds, f"{id}.{timestamp}.".encode(), signatures)
    except UnicodeEncodeError:  # A lone surrogate, as decoders make of bytes that are no UTF-8.
        return None


def _own_claim(header: str) -> Optional[_Claim]:
    parts = [part.strip() for part in header.split(",")]
    times = [part[2:] for part in parts if part.startswith("t=")]
    seconds = _seconds(times[0]) if len(times) == 1 else None
    hexes = [part[3:] for part in parts if part.startswith("v1=")]
    signatures = [bytes.fromhex(text) for text in hexes if re.fullmatch("(?:[0-9A-Fa-f]{2})+", text)]
    if seconds is None or not signatures:
        return None
    return _Claim(seconds, f"{times[0]}.".encode(), signatures)


def _seconds(text: str) -> Optional[int]:
    """Digits only: a signature of one scheme must not be readable as one of the other."""
    return int(text) if re.fullmatch("[0-9]{1,12}", text) else None


def _holds(claim: _Claim, body: bytes, keys: Sequence[bytes]) -> bool:
    signed = claim.prefix + body
    fits = False
    for key in keys:
        expected = hmac.new(key, signed, hashlib.sha256).digest()
        for signature in claim.signatures:
            fits |= hmac.compare_digest(expected, signature)
    return fits


def _key(secret: str) -> bytes:
    key = _from_base64(secret[len("whsec_") :]) if secret.startswith("whsec_") else None
    if not key:
        raise ValueError('A secret is "whsec_" and base64.')
    return key


def _from_base64(text: str) -> Optional[bytes]:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
