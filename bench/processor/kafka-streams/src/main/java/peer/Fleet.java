package peer;

import java.util.Map;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import peer.Limiter.Ping;

/**
 * One ping each 10 s; 1% late or repeated, 2% without a fix, 5% without ignition. Restless devices stay where they are, and
 * their ignition toggles each 40 pings. On journeys they drive for half an hour, some 22 km and back the next time, and stand
 * for half an hour in between.
 */
final class Fleet {
  private static final long EPOCH = 1_700_000_000_000L;
  private static final String[] CONNECTIONS = {"LTE", "LTE", "LTE-M", "2G"};

  private static final int RESTLESS_PINGS = 40;
  private static final int DRIVE_PINGS = 180;
  /** Of latitude and longitude, in 10 s. */
  private static final double DRIVE_DEGREES = 1e-3;
  private static final double DRIFT_DEGREES = 1e-5;

  private final long seed;
  private final boolean journeys;
  private final GenericRecord ping = new GenericData.Record(Wire.PING);

  Fleet(long seed, boolean journeys) {
    this.seed = seed;
    this.journeys = journeys;
    ping.put("buffered", false);
    ping.put("attributes", Map.of());
  }

  /** The answer is overwritten by the next call. */
  GenericRecord ping(int device, long sequence) {
    long own = mix(seed * 0x9E3779B97F4A7C15L + device);
    long draw = mix(own + sequence);
    boolean late = chance(draw, 0) < 1;
    boolean valid = chance(draw, 1) >= 2;
    int turn = journeys ? DRIVE_PINGS : RESTLESS_PINGS;
    long shifted = sequence + Math.floorMod(own, 2 * turn);
    boolean on = shifted / turn % 2 == 0;
    double way = journeys ? wayOf(shifted) * DRIVE_DEGREES : sequence * DRIFT_DEGREES;
    boolean bus = chance(own, 9) < 75;
    long at = EPOCH + Math.floorMod(own >> 8, 10_000) + (late ? sequence - 1 - chance(draw, 3) % 3 : sequence) * 10_000;

    ping.put("fleetId", "fleet-" + device % 50);
    ping.put("deviceId", numbered("device-", device));
    ping.put("eventTime", at);
    ping.put("receivedTime", at + 200 + chance(draw, 4) * 10);
    ping.put("positionValid", valid);
    ping.put("latitude", valid ? 50 + chance(own, 0) / 100.0 + way : null);
    ping.put("longitude", valid ? 4 + chance(own, 1) / 100.0 + way : null);
    ping.put("altitudeInMeters", valid ? chance(own, 2) + chance(draw, 8) / 10.0 : null);
    ping.put("heading", valid ? chance(draw, 5) * 3.6 : null);
    ping.put("speedInKmh", valid ? on ? (double) chance(draw, 6) : 0.0 : null);
    ping.put("satellites", valid ? 7 + chance(draw, 9) % 12 : 0);
    ping.put("hdop", valid ? 0.6 + chance(draw, 10) / 100.0 : null);
    ping.put("ignition", chance(draw, 2) < 5 ? null : on);
    ping.put("odometerInMeters", bus ? 1_000_000L + sequence * 100 : null);
    ping.put("batteryVoltage", on ? 14.1 : 12.6);
    ping.put("rpm", bus ? on ? 800 + 20 * chance(draw, 7) : 0 : null);
    ping.put("fuelLevel", bus ? (double) chance(own + sequence / 100, 8) : null);
    ping.put("connectionType", CONNECTIONS[chance(own, 3) % 4]);
    ping.put("vehicleId", numbered("vehicle-", device));
    ping.put("licensePlate", numbered("WP ", device));
    ping.put("driverId", chance(own, 4) < 80 ? numbered("driver-", device) : null);
    ping.put("sequence", sequence);
    return ping;
  }

  /** Pings on the road since the device was at home, less those on the way back. */
  private static long wayOf(long shifted) {
    long phase = shifted % (4 * DRIVE_PINGS);
    return phase <= 2 * DRIVE_PINGS
        ? Math.min(phase, DRIVE_PINGS)
        : Math.max(0, 3 * DRIVE_PINGS - phase);
  }

  static Ping read(GenericRecord ping) {
    return Ping.of((long) ping.get("eventTime"), (long) ping.get("receivedTime"), (Boolean) ping.get("ignition"),
        (boolean) ping.get("positionValid"), (Double) ping.get("latitude"), (Double) ping.get("longitude"));
  }

  /** Seven digits. */
  private static String numbered(String prefix, int number) {
    return prefix + Integer.toString(10_000_000 + number).substring(1);
  }

  /** 0 .. 99; each lane is its own draw. */
  private static int chance(long draw, int lane) {
    return (int) Math.floorMod(mix(draw + lane * 0xD1B54A32D192ED03L), 100L);
  }

  /** SplitMix64's finalizer. */
  private static long mix(long z) {
    z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
    z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
    return z ^ z >>> 31;
  }
}
