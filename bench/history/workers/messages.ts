/** The window that a load fills, and how. */
export interface LoadPlan {
  readonly seed: number;
  readonly partitions: number;
  /** Of all partitions together. */
  readonly deliveries: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly batchSize: number;
  /** The clock of the projection: decides what is beyond the retention. */
  readonly nowMs: number;
}

export type ProjectorRequest =
  | { readonly type: 'connect'; readonly databaseUrl: string }
  /** Applies a log of its own, all partitions at once, each from its beginning to its end or until `stop`. */
  | { readonly type: 'project'; readonly log: string; readonly plan: LoadPlan }
  /** As `project`, without a database: what making up the attempts costs by itself. */
  | { readonly type: 'rehearse'; readonly plan: LoadPlan }
  | { readonly type: 'stop' };

/** What was projected so far, told twice a second and at the end. */
export interface Projected {
  readonly attempts: number;
  readonly deliveries: number;
  readonly transactions: number;
  readonly elapsedMs: number;
}
