/**
 * Runs what was asked for once the events that have already come are handled, all of it in one go.
 *
 * Requests are written then. What an idle connection got meanwhile (its end, or bytes that nobody asked for) is seen
 * before it is used again, and could not be taken for the answer.
 */
export interface Turn {
  /** A task that is already waiting runs once. */
  add(task: TurnTask): void;
}

export interface TurnTask {
  takeTurn(): void;
}

export function createTurn(): Turn {
  let waiting = new Set<TurnTask>();

  function run(): void {
    const due = waiting;
    waiting = new Set();
    for (const task of due) task.takeTurn();
  }

  return {
    add(task) {
      if (waiting.size === 0) setImmediate(run);
      waiting.add(task);
    },
  };
}
