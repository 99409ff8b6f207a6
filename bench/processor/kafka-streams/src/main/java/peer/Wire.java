package peer;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;

/** One schema in Confluent's wire format: 0, the writer's schema id (4 bytes, big-endian), Avro body. Not thread-safe. */
final class Wire {
  static final Schema PING = resource("telemetry.pings-value.avsc");
  static final Schema EVENT = resource("fleet.events-value.avsc");
  static final int HEADER = 5;
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  private final Schema schema;
  private final Map<Integer, GenericDatumReader<GenericRecord>> readers = new HashMap<>();
  private final GenericDatumWriter<GenericRecord> writer;
  private final ByteArrayOutputStream buffer = new ByteArrayOutputStream(512);
  private final byte[] header;
  private BinaryEncoder encoder;
  private BinaryDecoder decoder;
  private GenericRecord reused;

  private Wire(Schema schema, int id) {
    this.schema = schema;
    writer = new GenericDatumWriter<>(schema);
    header = ByteBuffer.allocate(HEADER).putInt(1, id).array();
  }

  static Wire reader(Schema schema) {
    return new Wire(schema, 0);
  }

  /** Writes under the id that the subject of the topic's values has: the product has registered its schemas. */
  static Wire writer(Schema schema, String topic) {
    var latest = call("/subjects/" + topic + "-value/versions/latest");
    if (!new Schema.Parser().parse((String) latest.get("schema")).equals(schema))
      throw new IllegalStateException("The registry has another schema for " + topic + " than the product.");
    return new Wire(schema, (int) latest.get("id"));
  }

  byte[] encode(GenericRecord value) {
    try {
      buffer.reset();
      buffer.write(header);
      encoder = EncoderFactory.get().binaryEncoder(buffer, encoder);
      writer.write(value, encoder);
      encoder.flush();
      return buffer.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The answer is overwritten by the next call. */
  GenericRecord decode(byte[] bytes) {
    if (bytes[0] != 0) throw new IllegalArgumentException("magic byte " + bytes[0]);
    try {
      decoder = DecoderFactory.get().binaryDecoder(bytes, HEADER, bytes.length - HEADER, decoder);
      return reused = readers.computeIfAbsent(ByteBuffer.wrap(bytes).getInt(1), this::readerOf).read(reused, decoder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private GenericDatumReader<GenericRecord> readerOf(int id) {
    String written = (String) call("/schemas/ids/" + id).get("schema");
    return new GenericDatumReader<>(new Schema.Parser().parse(written), schema);
  }

  private static Map<?, ?> call(String path) {
    try {
      var request = HttpRequest.newBuilder(URI.create(Env.REGISTRY + path)).build();
      var response = HTTP.send(request, BodyHandlers.ofString());
      if (response.statusCode() != 200) throw new IOException(path + ": " + response.statusCode() + " " + response.body());
      return JSON.readValue(response.body(), Map.class);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Schema resource(String name) {
    try (InputStream in = Wire.class.getResourceAsStream("/" + name)) {
      return new Schema.Parser().parse(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
