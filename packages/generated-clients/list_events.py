"""Reads the deliveries of a fleet with a client that openapi-python-client has generated: the folder `generated` beside it."""

import json
import os
import sys

from generated import AuthenticatedClient
from generated.api.history import list_events
from generated.models import ListEventsResponse200
from generated.models import Error

client = AuthenticatedClient(base_url=os.environ["API_URL"], token=os.environ["API_KEY"])
page = list_events.sync(client=client, limit=10)
if not isinstance(page, ListEventsResponse200):
    sys.exit(f"no page: {page}")
refused = list_events.sync(client=client, limit=0)
if not isinstance(refused, Error):
    sys.exit(f"no error: {refused}")
deliveries = [[event.event_type, event.delivery.status, event.delivery.attempt_count] for event in page.data]
print(json.dumps({"deliveries": deliveries, "refusal": refused.error.code, "requestId": len(refused.error.request_id)}))
