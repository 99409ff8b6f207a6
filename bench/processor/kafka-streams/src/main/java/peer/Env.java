package peer;

import java.util.Map;

/** The settings that all programs share; each is an environment variable of the same name. */
final class Env {
  static final String BOOTSTRAP = str("BOOTSTRAP", "127.0.0.1:9092");
  static final String REGISTRY = str("REGISTRY", "http://127.0.0.1:8081");
  static final String INPUT = str("INPUT", "telemetry.pings");
  static final String OUTPUT = str("OUTPUT", "fleet.events");

  static String str(String name, String otherwise) {
    return System.getenv().getOrDefault(name, otherwise);
  }

  static long num(String name, long otherwise) {
    return Long.parseLong(str(name, "" + otherwise));
  }

  static Map<String, Object> client() {
    return Map.of("bootstrap.servers", BOOTSTRAP);
  }

  private Env() {}
}
