"""Publishes one ping to telemetry.pings (R-38): python publish_ping.py FLEET DEVICE [LATITUDE LONGITUDE]

KAFKA_BROKERS and SCHEMA_REGISTRY_URL say where to.
"""

import os
import sys
import time

from confluent_kafka import SerializingProducer
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.serialization import StringSerializer

TOPIC = "telemetry.pings"


def ping(fleet_id: str, device_id: str, latitude: float, longitude: float) -> dict:
    now_ms = int(time.time() * 1000)
    # What is left out has the default of the schema: null, which means "not reported".
    return {
        "fleetId": fleet_id,
        "deviceId": device_id,
        "eventTime": now_ms,
        "receivedTime": now_ms,
        "positionValid": True,
        "latitude": latitude,
        "longitude": longitude,
        "speedInKmh": 43.2,
        "ignition": True,
    }


def main(fleet_id: str, device_id: str, latitude: str = "48.13743", longitude: str = "11.57549") -> None:
    registry = SchemaRegistryClient({"url": os.environ["SCHEMA_REGISTRY_URL"]})
    # The schema is there already; a producer only looks it up.
    serializer = AvroSerializer(registry, conf={"auto.register.schemas": False, "use.latest.version": True})
    producer = SerializingProducer(
        {
            "bootstrap.servers": os.environ["KAFKA_BROKERS"],
            "enable.idempotence": True,
            # Other clients put a key elsewhere unless they are set to hash like Kafka's own clients.
            "partitioner": "murmur2_random",
            "key.serializer": StringSerializer(),
            "value.serializer": serializer,
        }
    )
    # The key is the device: its pings stay in order.
    value = ping(fleet_id, device_id, float(latitude), float(longitude))
    producer.produce(TOPIC, key=device_id, value=value, on_delivery=report)
    if producer.flush(30) > 0:
        sys.exit("The broker has not confirmed the ping within 30 s.")


def report(error, message) -> None:
    if error is not None:
        sys.exit(f"The ping was refused: {error}")
    print(f"published to {message.topic()}-{message.partition()} at offset {message.offset()}")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 5):
        sys.exit(__doc__)
    main(*sys.argv[1:])
