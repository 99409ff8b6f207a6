/** What the load generator is asked for: these requests again and again, in turn, by so many callers. */
export interface LoadRequest {
  readonly origin: string;
  readonly requests: readonly PlannedRequest[];
  readonly callers: number;
  readonly seconds: number;
}

export interface PlannedRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface LoadResult {
  readonly answers: number;
  readonly seconds: number;
  readonly bytes: number;
  readonly latencyMs: { readonly p50: number; readonly p99: number; readonly most: number };
  /** Answers other than 2xx, timeouts and broken connections. */
  readonly failures: number;
}
