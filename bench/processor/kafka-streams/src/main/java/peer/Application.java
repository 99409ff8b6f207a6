package peer;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.util.Utf8;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.processor.StateRestoreListener;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import peer.Limiter.EventType;
import peer.Limiter.Ignition;
import peer.Limiter.Ping;
import peer.Limiter.State;

/** The rate limiter as a Kafka Streams application: Processor API, exactly_once_v2, a store with a changelog. */
public final class Application {
  private static final String STORE = "devices";

  /** One per task, so one per input partition; a task is run by one thread at a time. */
  static final class Limit implements Processor<byte[], byte[], byte[], byte[]> {
    private static final int FLEET = of("fleetId");
    private static final int DEVICE = of("deviceId");
    private static final int EVENT_TIME = of("eventTime");
    private static final int RECEIVED_TIME = of("receivedTime");
    private static final int POSITION_VALID = of("positionValid");
    private static final int LATITUDE = of("latitude");
    private static final int LONGITUDE = of("longitude");
    private static final int IGNITION = of("ignition");

    private final Wire pings = Wire.reader(Wire.PING);
    private final Wire events = Wire.writer(Wire.EVENT, Env.OUTPUT);
    private final EventOfPing eventOfPing = new EventOfPing();
    private ProcessorContext<byte[], byte[]> context;
    private KeyValueStore<Bytes, byte[]> devices;

    @Override
    public void init(ProcessorContext<byte[], byte[]> context) {
      this.context = context;
      devices = context.getStateStore(STORE);
    }

    @Override
    public void process(Record<byte[], byte[]> in) {
      GenericRecord decoded = pings.decode(in.value());
      Bytes key = keyOf((Utf8) decoded.get(FLEET), (Utf8) decoded.get(DEVICE));
      byte[] known = devices.get(key);
      State state = known == null ? State.NEW : State.of(known);
      Ping ping = Ping.of((long) decoded.get(EVENT_TIME), (long) decoded.get(RECEIVED_TIME), (Boolean) decoded.get(IGNITION),
          (boolean) decoded.get(POSITION_VALID), (Double) decoded.get(LATITUDE), (Double) decoded.get(LONGITUDE));
      State next = Limiter.next(state, ping, (type, after) -> context.forward(
          in.withValue(events.encode(eventOfPing.make(type, decoded, ping, after, state)))));
      if (next != null) devices.put(key, next.toBytes());
    }

    /** fleetId U+001F deviceId: the same device id may occur in two fleets. */
    private static Bytes keyOf(Utf8 fleet, Utf8 device) {
      byte[] key = new byte[fleet.getByteLength() + 1 + device.getByteLength()];
      System.arraycopy(fleet.getBytes(), 0, key, 0, fleet.getByteLength());
      key[fleet.getByteLength()] = 0x1F;
      System.arraycopy(device.getBytes(), 0, key, fleet.getByteLength() + 1, device.getByteLength());
      return Bytes.wrap(key);
    }

    private static int of(String name) {
      return Wire.PING.getField(name).pos();
    }
  }

  /** Makes the events of one task, all in one record: it is encoded before the next is made. */
  static final class EventOfPing {
    private static final String[] COPIED = {"fleetId", "deviceId", "eventTime", "vehicleId", "licensePlate", "driverId",
        "altitudeInMeters", "speedInKmh", "heading", "odometerInMeters", "batteryVoltage", "connectionType", "rpm", "fuelLevel"};
    private static final int[] FROM = positions(Wire.PING::getField);
    private static final int[] TO = positions(Wire.EVENT::getField);
    private static final int TYPE = of("eventType");
    private static final int LATITUDE = of("latitude");
    private static final int LONGITUDE = of("longitude");
    private static final int LOCATION_TIME = of("locationTime");
    private static final int IGNITION = of("ignition");
    private static final Utf8[] TYPES = java.util.Arrays.stream(EventType.values())
        .map(type -> new Utf8(type.name())).toArray(Utf8[]::new);

    private final GenericRecord event = new GenericData.Record(Wire.EVENT);

    /** Every measurement is the ping's own; without a valid fix the location is the last valid one. */
    GenericRecord make(EventType type, GenericRecord decoded, Ping ping, Ignition after, State before) {
      for (int i = 0; i < FROM.length; i++) event.put(TO[i], decoded.get(FROM[i]));
      event.put(TYPE, TYPES[type.ordinal()]);
      event.put(IGNITION, after == Ignition.UNKNOWN ? null : after == Ignition.ON);
      boolean located = ping.fixed() || before.fixTime() != State.NEVER;
      event.put(LATITUDE, !located ? null : ping.fixed() ? ping.latitude() : before.latitude());
      event.put(LONGITUDE, !located ? null : ping.fixed() ? ping.longitude() : before.longitude());
      event.put(LOCATION_TIME, ping.fixed() || !located ? null : before.fixTime());
      return event;
    }

    private static int of(String name) {
      return Wire.EVENT.getField(name).pos();
    }

    private static int[] positions(java.util.function.Function<String, org.apache.avro.Schema.Field> field) {
      return java.util.Arrays.stream(COPIED).mapToInt(name -> field.apply(name).pos()).toArray();
    }
  }

  static Topology topology(boolean inMemory, boolean caching) {
    var store = Stores.keyValueStoreBuilder(
        inMemory ? Stores.inMemoryKeyValueStore(STORE) : Stores.persistentKeyValueStore(STORE),
        Serdes.Bytes(), Serdes.ByteArray()).withLoggingEnabled(Map.of());
    return new Topology()
        .addSource("pings", new ByteArrayDeserializer(), new ByteArrayDeserializer(), Env.INPUT)
        .addProcessor("limit", Limit::new, "pings")
        .addStateStore(caching ? store.withCachingEnabled() : store.withCachingDisabled(), "limit")
        .addSink("events", Env.OUTPUT, new ByteArraySerializer(), new ByteArraySerializer(), "limit");
  }

  public static void main(String[] args) {
    var config = new Properties();
    config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, Env.BOOTSTRAP);
    config.put(StreamsConfig.APPLICATION_ID_CONFIG, Env.str("APP_ID", "limiter"));
    config.put(StreamsConfig.STATE_DIR_CONFIG, Env.str("STATE_DIR", "state"));
    config.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, (int) Env.num("THREADS", 1));
    config.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, Env.num("COMMIT_MS", 100));
    config.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    config.put("auto.offset.reset", "earliest");
    // Further settings, any of Kafka's: CONFIG="producer.linger.ms=5 group.instance.id=a"
    for (String pair : Env.str("CONFIG", "").split("\\s+")) {
      int equals = pair.indexOf('=');
      if (equals > 0) config.put(pair.substring(0, equals), pair.substring(equals + 1));
    }
    var streams = new KafkaStreams(
        topology(Env.str("STORE", "inmemory").equals("inmemory"), Env.str("CACHING", "false").equals("true")), config);
    streams.setStateListener((now, before) -> say("state " + now));
    streams.setGlobalStateRestoreListener(new Restores());
    Runtime.getRuntime().addShutdownHook(new Thread(() -> streams.close(Duration.ofSeconds(30))));
    streams.start();
  }

  private static final class Restores implements StateRestoreListener {
    @Override
    public void onRestoreStart(TopicPartition from, String store, long first, long end) {
      say("restoring " + from);
    }

    @Override
    public void onBatchRestored(TopicPartition from, String store, long end, long count) {}

    @Override
    public void onRestoreEnd(TopicPartition from, String store, long count) {
      say("restored " + count + " from " + from);
    }
  }

  private static void say(String text) {
    System.out.println(ManagementFactory.getRuntimeMXBean().getUptime() + " ms " + text);
  }
}
