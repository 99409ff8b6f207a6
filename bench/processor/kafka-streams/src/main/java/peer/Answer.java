package peer;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Map;
import java.util.TreeMap;

/**
 * Events per type, and hashes that do not depend on their order: the sum, modulo 2^64, of the first 8 bytes
 * (big-endian) of each event's SHA-256, in hexadecimal. hash is of "deviceId|eventType|eventTime" in UTF-8, content of
 * the event's Avro body.
 */
final class Answer {
  private final Map<String, Long> counts = new TreeMap<>();
  private final MessageDigest digest;
  private long hash;
  private long content;

  Answer() {
    try {
      digest = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }

  void add(Object deviceId, Object type, long eventTime) {
    counts.merge(type.toString(), 1L, Long::sum);
    hash += first8(digest.digest((deviceId + "|" + type + "|" + eventTime).getBytes(StandardCharsets.UTF_8)));
  }

  /** The same event as it lies in the topic. */
  void addContent(byte[] wireValue) {
    digest.update(wireValue, Wire.HEADER, wireValue.length - Wire.HEADER);
    content += first8(digest.digest());
  }

  private static long first8(byte[] bytes) {
    return ByteBuffer.wrap(bytes).getLong();
  }

  @Override
  public String toString() {
    return "events=" + counts.values().stream().mapToLong(n -> n).sum() + " " + counts
        + String.format(" hash=%016x content=%016x", hash, content);
  }
}
