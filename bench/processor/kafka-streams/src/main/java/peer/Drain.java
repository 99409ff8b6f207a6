package peer;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Reads the output topic as a read_committed consumer.
 * "answer": from start to end, then prints the answer.
 * "first": from now on, until the first record; prints when it was seen.
 * "latency SECONDS SKIP": from now on; SECONDS after the first record it prints the time from each ping's send (see
 * Load) to here, leaving out the first SKIP seconds.
 */
public final class Drain {
  private final KafkaConsumer<byte[], byte[]> consumer;
  private final List<TopicPartition> partitions;
  private final Wire wire = Wire.reader(Wire.EVENT);

  private Drain(KafkaConsumer<byte[], byte[]> consumer) {
    this.consumer = consumer;
    partitions = consumer.partitionsFor(Env.OUTPUT).stream().map(p -> new TopicPartition(p.topic(), p.partition())).toList();
    consumer.assign(partitions);
  }

  public static void main(String[] args) {
    var settings = new HashMap<>(Env.client());
    settings.put("isolation.level", "read_committed");
    try (var consumer = new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      var drain = new Drain(consumer);
      switch (args[0]) {
        case "answer" -> drain.answer();
        case "first" -> drain.first();
        case "latency" -> drain.latency(Integer.parseInt(args[1]), Integer.parseInt(args[2]));
        default -> throw new IllegalArgumentException(args[0]);
      }
    }
  }

  private void answer() {
    var answer = new Answer();
    consumer.seekToBeginning(partitions);
    var ends = consumer.endOffsets(partitions);
    while (partitions.stream().anyMatch(p -> consumer.position(p) < ends.get(p))) {
      for (var record : consumer.poll(Duration.ofMillis(100))) {
        var event = wire.decode(record.value());
        answer.add(event.get("deviceId"), event.get("eventType"), (long) event.get("eventTime"));
        answer.addContent(record.value());
      }
    }
    System.out.println(answer);
  }

  private void first() {
    follow();
    while (consumer.poll(Duration.ofMillis(100)).isEmpty()) continue;
    System.out.println("first " + System.currentTimeMillis());
  }

  private void latency(int seconds, int skip) {
    follow();
    var waits = new ArrayList<Long>();
    long first = 0;
    while (first == 0 || System.currentTimeMillis() < first + seconds * 1000L) {
      for (var record : consumer.poll(Duration.ofMillis(100))) {
        long now = Load.nowMicros();
        if (first == 0) first = now / 1_000;
        if (now >= (first + skip * 1_000L) * 1_000) waits.add(now - (long) wire.decode(record.value()).get("odometerInMeters"));
      }
    }
    waits.sort(null);
    System.out.printf("events=%d p50=%.1f p99=%.1f max=%.1f ms%n",
        waits.size(), at(waits, 0.5), at(waits, 0.99), at(waits, 1));
  }

  private void follow() {
    consumer.seekToEnd(partitions);
    partitions.forEach(consumer::position);
    System.out.println("following");
  }

  /** In ms. */
  private static double at(List<Long> sorted, double share) {
    return sorted.isEmpty() ? Double.NaN : sorted.get((int) Math.min(sorted.size() - 1, sorted.size() * share)) / 1_000.0;
  }
}
