package example;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.GenericRecordBuilder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Publishes one ping to telemetry.pings: PublishPing FLEET DEVICE. KAFKA_BROKERS and SCHEMA_REGISTRY_URL say where to.
 *
 * <p>It asks the registry itself, so that it needs nothing but Maven Central. With Confluent's repository, their
 * KafkaAvroSerializer does the same (auto.register.schemas=false, use.latest.version=true).
 */
public final class PublishPing {
  private static final String TOPIC = "telemetry.pings";

  private record RegisteredSchema(int id, Schema schema) {}

  public static void main(String[] args) throws Exception {
    if (args.length != 2) {
      System.err.println("Usage: PublishPing FLEET DEVICE");
      System.exit(1);
    }
    RegisteredSchema registered = latestSchema(System.getenv("SCHEMA_REGISTRY_URL"));
    byte[] value = wireFormat(registered, ping(registered.schema(), args[0], args[1]));
    Map<String, Object> settings =
        Map.of("bootstrap.servers", System.getenv("KAFKA_BROKERS"), "acks", "all", "enable.idempotence", true);
    try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new ByteArraySerializer())) {
      // The key is the device: its pings stay in order.
      var appended = producer.send(new ProducerRecord<>(TOPIC, args[1], value)).get();
      System.out.printf("published to %s-%d at offset %d%n", appended.topic(), appended.partition(), appended.offset());
    }
  }

  private static GenericRecord ping(Schema schema, String fleetId, String deviceId) {
    long now = System.currentTimeMillis();
    // What is not set has the default of the schema: null, which means "not reported".
    return new GenericRecordBuilder(schema)
        .set("fleetId", fleetId)
        .set("deviceId", deviceId)
        .set("eventTime", now)
        .set("receivedTime", now)
        .set("positionValid", true)
        .set("latitude", 48.13743)
        .set("longitude", 11.57549)
        .set("speedInKmh", 43.2)
        .set("ignition", true)
        .build();
  }

  private static RegisteredSchema latestSchema(String registryUrl) throws IOException, InterruptedException {
    URI uri = URI.create(registryUrl + "/subjects/" + TOPIC + "-value/versions/latest");
    HttpResponse<String> response =
        HttpClient.newHttpClient().send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
    if (response.statusCode() != 200) throw new IOException("The registry answered " + response.statusCode());
    JsonNode answer = new ObjectMapper().readTree(response.body());
    return new RegisteredSchema(answer.get("id").asInt(), new Schema.Parser().parse(answer.get("schema").asText()));
  }

  /** Confluent wire format: a zero byte, the schema id, the Avro data. */
  private static byte[] wireFormat(RegisteredSchema registered, GenericRecord record) throws IOException {
    var bytes = new ByteArrayOutputStream();
    var header = new DataOutputStream(bytes);
    header.writeByte(0);
    header.writeInt(registered.id());
    BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(bytes, null);
    new GenericDatumWriter<GenericRecord>(registered.schema(), GenericData.get()).write(record, encoder);
    encoder.flush();
    return bytes.toByteArray();
  }
}
