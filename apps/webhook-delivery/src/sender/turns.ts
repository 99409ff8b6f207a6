/** Something of one subscription that wants to run. */
export interface Turn {
  readonly run: () => Promise<void>;
}

export interface TurnLimits {
  /** In flight of one subscription. */
  readonly perSubscription: number;
  /** In flight of this process. */
  readonly total: number;
}

/**
 * Fair turns: subscriptions with work take turns, each within its own cap, so that a slow or dead endpoint holds
 * no more than its share. Within a subscription, first come first served.
 */
export interface Turns {
  enqueue(subscriptionId: string, turn: Turn): void;
  readonly inFlight: number;
}

interface Lane {
  readonly waiting: Turn[];
  inFlight: number;
  queued: boolean;
}

export const createTurns = (limits: TurnLimits): Turns => {
  const lanes = new Map<string, Lane>();
  let queue: string[] = [];
  let inFlight = 0;
  let pumping = false;

  const laneOf = (subscriptionId: string): Lane => {
    let lane = lanes.get(subscriptionId);
    if (!lane) lanes.set(subscriptionId, (lane = { waiting: [], inFlight: 0, queued: false }));
    return lane;
  };

  const line = (subscriptionId: string, lane: Lane): void => {
    if (lane.queued || lane.waiting.length === 0 || lane.inFlight >= limits.perSubscription) return;
    lane.queued = true;
    queue.push(subscriptionId);
  };

  const start = (subscriptionId: string, lane: Lane, turn: Turn): void => {
    lane.inFlight++;
    inFlight++;
    void turn.run().finally(() => {
      lane.inFlight--;
      inFlight--;
      if (lane.inFlight === 0 && lane.waiting.length === 0) lanes.delete(subscriptionId);
      else line(subscriptionId, lane);
      pump();
    });
  };

  const pump = (): void => {
    if (pumping) return;
    pumping = true;
    while (queue.length > 0 && inFlight < limits.total) {
      const round = queue;
      queue = [];
      for (const [position, subscriptionId] of round.entries()) {
        if (inFlight >= limits.total) {
          queue = [...round.slice(position), ...queue];
          break;
        }
        const lane = lanes.get(subscriptionId);
        const turn = lane?.waiting.shift();
        if (!lane) continue;
        lane.queued = false;
        if (turn) start(subscriptionId, lane, turn);
        line(subscriptionId, lane);
      }
    }
    pumping = false;
  };

  return {
    get inFlight() {
      return inFlight;
    },
    enqueue: (subscriptionId, turn) => {
      const lane = laneOf(subscriptionId);
      lane.waiting.push(turn);
      line(subscriptionId, lane);
      pump();
    },
  };
};
