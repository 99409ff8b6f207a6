/** Whose event it is. */
export interface Target {
  readonly fleetId: string;
  readonly eventType: string;
  /** Its part of all events, to the sum of all weights. */
  readonly weight: number;
}

export interface LoadPlan {
  /** What is written: events (the default), or pings of which each makes one event, of a device of its own. */
  readonly records?: 'events' | 'pings';
  readonly targets: readonly Target[];
  readonly amount:
    /** So many a second, sent whatever becomes of them. */
    | { readonly type: 'rate'; readonly perSecond: number; readonly events: number }
    /** As many as are delivered: this many are under way until `stop`. `deliveriesPerEvent` are to come of each. */
    | { readonly type: 'closed'; readonly underWay: number; readonly deliveriesPerEvent: number }
    /** As quickly as the broker takes them. */
    | { readonly type: 'flood'; readonly events: number };
  /** Another topic than the one that webhook-delivery reads: to measure the generator alone. */
  readonly topic?: string;
}

export interface LoadChange {
  readonly perSecond: number;
  /** By target. */
  readonly weights: readonly number[];
}

export type LoadRequestMessage =
  | { readonly type: 'connect'; readonly brokers: readonly string[]; readonly registryUrl: string }
  | { readonly type: 'start'; readonly plan: LoadPlan }
  | { readonly type: 'retarget'; readonly change: LoadChange }
  /** Ends what `start` has begun, or waits for its end. */
  | { readonly type: 'finish'; readonly stop: boolean; readonly file: string }
  | { readonly type: 'answered'; readonly answered200: number }
  | {
      readonly type: 'posts';
      readonly ports: readonly number[];
      readonly connections: number;
      readonly seconds: number;
    };

export interface LoadResult {
  readonly firstEvent: number;
  readonly events: number;
  readonly seconds: number;
  /** How far the generator was behind its plan at worst: a large number makes the run worthless. */
  readonly behindMs: number;
}

/** The columns of what the load generator remembers of each event, in the order of their numbers. */
export const SENT = {
  /** Position in the plan's targets. */
  target: 0,
  sentMs: 1,
  /** When the broker has appended it, which makes it committed: the record's time. */
  committedMs: 2,
} as const;

export const SENT_WIDTH = 3;
