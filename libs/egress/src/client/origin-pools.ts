import { type buildConnector, Pool } from 'undici';
import { WatchedClient } from './watched-client.js';

export interface OriginPoolsOptions {
  readonly connect: buildConnector.connector;
  readonly connectionsPerOrigin: number;
  readonly maxIdleOrigins: number;
  readonly keepAliveMs: number;
  readonly maxConnectionAgeMs: number;
  readonly maxResponseHeaderBytes: number;
}

export interface OriginLease {
  readonly pool: Pool;
  release(): void;
}

interface OriginEntry {
  readonly pool: Pool;
  inFlight: number;
}

/**
 * One pool of connections per origin. Those in use are always kept; of the idle ones only the most recently used,
 * so that any number of origins over time needs bounded memory.
 */
export interface OriginPools {
  lease(origin: string): OriginLease;
  /** Ends all connections and fails what is still in flight. */
  destroy(): Promise<void>;
  /** Known origins, in use or idle. */
  readonly size: number;
}

export function createOriginPools(options: OriginPoolsOptions): OriginPools {
  const busy = new Map<string, OriginEntry>();
  /** Least recently used first: maps keep the order of insertion. */
  const idle = new Map<string, OriginEntry>();

  function createPool(origin: string): Pool {
    return new Pool(origin, {
      factory: (url, clientOptions) => new WatchedClient(url, clientOptions, options),
      connections: options.connectionsPerOrigin,
      pipelining: 1,
      keepAliveTimeout: options.keepAliveMs,
      keepAliveMaxTimeout: options.keepAliveMs,
      clientTtl: options.maxConnectionAgeMs,
      maxHeaderSize: options.maxResponseHeaderBytes,
      // One deadline over everything is kept by each exchange.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  function dropSurplus(): void {
    for (const [origin, entry] of idle) {
      if (idle.size <= options.maxIdleOrigins) return;
      idle.delete(origin);
      // `close` waits for a request that was given up but still waits for its socket.
      void entry.pool.close();
    }
  }

  function release(origin: string, entry: OriginEntry): void {
    entry.inFlight -= 1;
    if (entry.inFlight > 0) return;
    busy.delete(origin);
    idle.set(origin, entry);
    dropSurplus();
  }

  return {
    lease(origin) {
      const entry = busy.get(origin) ?? idle.get(origin) ?? { pool: createPool(origin), inFlight: 0 };
      if (entry.inFlight === 0) {
        idle.delete(origin);
        busy.set(origin, entry);
      }
      entry.inFlight += 1;
      return {
        pool: entry.pool,
        release: () => {
          release(origin, entry);
        },
      };
    },
    async destroy() {
      const entries = [...busy.values(), ...idle.values()];
      busy.clear();
      idle.clear();
      await Promise.all(entries.map(({ pool }) => pool.destroy()));
    },
    get size() {
      return busy.size + idle.size;
    },
  };
}
