"""Verifies the webhooks of Waypost."""

from .events import *  # noqa: F401,F403
from .verify import Reason, Refused, Verification, Verified, recognize, verify

__all__ = ["Reason", "Refused", "Verification", "Verified", "recognize", "verify"]
