package peer;

import java.time.Instant;
import java.util.HashMap;
import java.util.concurrent.locks.LockSupport;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import peer.Limiter.State;

/**
 * Writes pings FROM .. FROM + COUNT - 1: ping i is device i % DEVICES's (i / DEVICES)-th. Every value is a function of
 * SEED, device and sequence alone; with JOURNEYS=1 the devices drive and stand as vehicles do. Prints the answer that the rules give for these pings, worked out without Kafka.
 * With RATE it sends that many pings a second, each with its send time, in microseconds, as its odometer: a field that
 * every event carries over.
 */
public final class Load {
  public static void main(String[] args) {
    long from = Env.num("FROM", 0);
    long count = Env.num("COUNT", 5_000_000);
    int devices = (int) Env.num("DEVICES", 20_000);
    int rate = (int) Env.num("RATE", 0);

    var settings = new HashMap<>(Env.client());
    settings.put("linger.ms", rate > 0 ? 0 : 20);
    settings.put("batch.size", 65_536);
    settings.put("buffer.memory", 128L << 20);
    var fleet = new Fleet(Env.num("SEED", 1), Env.num("JOURNEYS", 0) == 1);
    var wire = Wire.writer(Wire.PING, Env.INPUT);
    var states = new State[devices];
    var answer = new Answer();
    long started = System.nanoTime();
    try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new ByteArraySerializer())) {
      for (long i = from; i < from + count; i++) {
        if (rate > 0) LockSupport.parkNanos(started + (i - from) * 1_000_000_000L / rate - System.nanoTime());
        int device = (int) (i % devices);
        GenericRecord ping = fleet.ping(device, i / devices);
        if (rate > 0) ping.put("odometerInMeters", nowMicros());
        String id = (String) ping.get("deviceId");
        producer.send(new ProducerRecord<>(Env.INPUT, id, wire.encode(ping)), (done, failed) -> {
          if (failed != null) Runtime.getRuntime().halt(1);
        });
        var next = Limiter.next(states[device] == null ? State.NEW : states[device], Fleet.read(ping),
            (type, after) -> answer.add(id, type, (long) ping.get("eventTime")));
        if (next != null) states[device] = next;
        if ((i - from + 1) % 1_000_000 == 0) System.out.println("sent " + (i - from + 1));
      }
    }
    System.out.printf("loaded %d pings of %d devices in %.1f s; from an empty state they give %s%n",
        count, devices, (System.nanoTime() - started) / 1e9, answer);
  }

  static long nowMicros() {
    var now = Instant.now();
    return now.getEpochSecond() * 1_000_000 + now.getNano() / 1_000;
  }
}
