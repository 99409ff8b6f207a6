package peer;

import java.nio.ByteBuffer;

/** The rules of one ping: what it emits, and what is then remembered of its device. */
final class Limiter {
  enum Ignition { UNKNOWN, OFF, ON }

  enum EventType { position, position_sleep, ignition_on, ignition_off }

  static final long QUIET_MS = 180_000;
  static final long MAX_AHEAD_MS = 300_000;
  static final long MAX_AGE_MS = 15 * 86_400_000L;

  /** What the rules read of a ping. reported: its ignition, null when it has none. fixed: its position is valid. */
  record Ping(long eventTime, long receivedTime, Boolean reported, boolean fixed, double latitude, double longitude) {
    static Ping of(long eventTime, long receivedTime, Boolean reported, boolean valid, Double latitude, Double longitude) {
      boolean fixed = valid && latitude != null && longitude != null && isOnEarth(latitude, longitude);
      return new Ping(eventTime, receivedTime, reported, fixed, fixed ? latitude : 0, fixed ? longitude : 0);
    }

    private static boolean isOnEarth(double latitude, double longitude) {
      return latitude >= -90 && latitude <= 90 && longitude >= -180 && longitude <= 180 && (latitude != 0 || longitude != 0);
    }
  }

  /**
   * Times in epoch ms; NEVER where there was none. armed: an ignition change whose position was not sent yet.
   * latitude and longitude are of the last valid fix, of fixTime.
   */
  record State(long newestEventTime, long lastSentTime, long fixTime, double latitude, double longitude,
      Ignition ignition, boolean armed) {
    static final long NEVER = Long.MIN_VALUE;
    static final State NEW = new State(NEVER, NEVER, NEVER, 0, 0, Ignition.UNKNOWN, false);
    private static final Ignition[] IGNITIONS = Ignition.values();
    private static final int BYTES = 42;

    byte[] toBytes() {
      return ByteBuffer.allocate(BYTES).putLong(newestEventTime).putLong(lastSentTime).putLong(fixTime)
          .putDouble(latitude).putDouble(longitude).put((byte) ignition.ordinal()).put((byte) (armed ? 1 : 0)).array();
    }

    static State of(byte[] bytes) {
      var b = ByteBuffer.wrap(bytes);
      return new State(b.getLong(0), b.getLong(8), b.getLong(16), b.getDouble(24), b.getDouble(32),
          IGNITIONS[b.get(40)], b.get(41) == 1);
    }
  }

  interface Emitter {
    void emit(EventType type, Ignition after);
  }

  /** The next state, or null when the ping is not taken: from the future, too old, late or a duplicate. */
  static State next(State s, Ping p, Emitter emitter) {
    long aheadMs = p.eventTime - p.receivedTime;
    if (aheadMs > MAX_AHEAD_MS || -aheadMs > MAX_AGE_MS || p.eventTime <= s.newestEventTime) return null;
    Ignition ignition = p.reported == null ? s.ignition : p.reported ? Ignition.ON : Ignition.OFF;
    boolean changed = s.ignition != Ignition.UNKNOWN && ignition != s.ignition;
    if (changed) emitter.emit(ignition == Ignition.ON ? EventType.ignition_on : EventType.ignition_off, ignition);
    boolean armed = s.armed || changed;
    if (!p.fixed) return new State(p.eventTime, s.lastSentTime, s.fixTime, s.latitude, s.longitude, ignition, armed);
    boolean due = s.lastSentTime == State.NEVER || armed || p.eventTime - s.lastSentTime >= QUIET_MS;
    if (!due) return new State(p.eventTime, s.lastSentTime, p.eventTime, p.latitude, p.longitude, ignition, armed);
    emitter.emit(ignition == Ignition.OFF ? EventType.position_sleep : EventType.position, ignition);
    return new State(p.eventTime, p.eventTime, p.eventTime, p.latitude, p.longitude, ignition, false);
  }

  private Limiter() {}
}
