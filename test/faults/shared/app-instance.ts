import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Guardian } from '../../../tools/dev-stack/index.js';
import { type GuardedChild, type ProcessExit, spawnGuarded } from '../../../tools/dev-stack/processes/spawn-guarded.js';

export interface AppInstanceOptions {
  readonly instance: number;
  /** The built main file of the application; a function is asked at every start of a process. */
  readonly program: string | ((instance: number) => string);
  /** Asked at every start of a process. */
  readonly env: () => Readonly<Record<string, string | undefined>>;
  /** Two, for the time in which a paused process still holds one. */
  readonly adminPorts: readonly [number, number];
  readonly guardian: Guardian;
  readonly logFile: string;
  /** An end that was not requested. */
  readonly onUnexpectedExit: (what: string) => void;
}

/** One instance of an application that runs tasks: a process, and what takes its place, as under a supervisor. */
export interface AppInstance {
  readonly instance: number;
  /** Whether it is meant to run. */
  readonly up: boolean;
  /** Whether a process of it was sent a signal to stop and still runs. */
  readonly isStopping: boolean;
  start(): void;
  kill(): Promise<void>;
  /** SIGTERM. Resolves with the time that the stop took. */
  stop(): Promise<number>;
  pause(): void;
  resume(): void;
  /** Of a process that was started with clock-step.mjs. */
  stepClock(): void;
  /** Starts a second process of the same name beside a paused one; the first is resumed after `forMs` and has to go. */
  replacePaused(forMs: number): Promise<void>;
  /** null: ready. Otherwise what is wrong. */
  problem(): Promise<string | null>;
  /** Of the process that runs now. */
  pid(): number | undefined;
  /** Where health, metrics and tasks of the process that runs now are. */
  adminUrl(): string;
}

/** The default of the runtime. */
export const SESSION_TIMEOUT_MS = 7_000;
const START_TIMEOUT_MS = 60_000;
const RESTART_DELAY_MS = 500;
const STOP_GRACE_MS = 10_000;
/** It only learns of its successor when a broker can say so. */
const ZOMBIE_GRACE_MS = 90_000;
const STARTED = '"event":"app_started"';
const PROBE_TIMEOUT_MS = 2_000;
/** INSTANCE_FENCED, and what else a restart fixes. */
const RUNTIME_FAILED = 70;
/** Something that it needs is away: a supervisor tries again. */
const START_FAILED = 1;

interface Running extends GuardedChild {
  /** Its end has been asked for, or is due. */
  dismissed: boolean;
  /** It has come up; before, a cluster that is away is reason enough to end, and the supervisor tries again. */
  started: boolean;
}

export function createAppInstance(options: AppInstanceOptions): AppInstance {
  const { instance, program, guardian, logFile, onUnexpectedExit } = options;
  let current: Running | null = null;
  let stopping: Running | null = null;
  let [adminPort, otherPort] = options.adminPorts;
  let zombies = 0;

  function launch(): Running {
    const env = { ...options.env(), WAYPOST_ADMIN_PORT: String(adminPort) };
    const onOutput = (text: string): void => {
      appendFileSync(logFile, text);
      if (text.includes(STARTED)) running.started = true;
    };
    const file = typeof program === 'string' ? program : program(instance);
    const command = { file: process.execPath, args: [file], env, channel: true, onOutput };
    const child = spawnGuarded(command, { guardian, logFile, orphanSignal: 'SIGKILL' });
    const running: Running = { ...child, dismissed: false, started: false };
    void running.exited.then((exit) => replaceEnded(running, exit));
    return running;
  }

  async function replaceEnded(ended: Running, exit: ProcessExit): Promise<void> {
    if (ended.dismissed) return;
    // Cut off from the brokers until the group has forgotten both, the two of one name fight for it: the last to join
    // keeps it, which may be the older one. The next start wins it back.
    const lostToZombie = zombies > 0 && exit.code === RUNTIME_FAILED;
    const isFailedStart = !ended.started && exit.code === START_FAILED;
    if (!lostToZombie && !isFailedStart) {
      onUnexpectedExit(
        `instance ${String(instance)} ended unasked: ${exit.signal ?? `exit code ${String(exit.code)}`}`,
      );
    }
    await sleep(RESTART_DELAY_MS);
    if (current === ended) current = launch();
  }

  async function end(signal: NodeJS.Signals, graceMs: number): Promise<void> {
    const ending = current;
    current = null;
    if (ending === null) return;
    ending.dismissed = true;
    stopping = ending;
    void ending.exited.then(() => {
      if (stopping === ending) stopping = null;
    });
    ending.child.kill(signal);
    const inTime = await Promise.race([ending.exited.then(() => true), sleep(graceMs, false)]);
    if (inTime) return;
    onUnexpectedExit(`instance ${String(instance)} did not end within ${String(graceMs)} ms of ${signal}`);
    ending.child.kill('SIGKILL');
    await ending.exited;
  }

  /** It wakes up beside its successor: the group refuses it, and it has to end with the code of a failed runtime. */
  async function expectToGo(zombie: Running): Promise<void> {
    zombie.child.kill('SIGCONT');
    const exit = await Promise.race([zombie.exited, sleep(ZOMBIE_GRACE_MS, null)]);
    if (exit?.code === RUNTIME_FAILED || (exit !== null && !zombie.started)) return;
    const how = exit === null ? `not within ${String(ZOMBIE_GRACE_MS)} ms` : `with ${exit.signal ?? String(exit.code)}`;
    onUnexpectedExit(`the replaced process of instance ${String(instance)} ended ${how}`);
    zombie.child.kill('SIGKILL');
    await zombie.exited;
  }

  return {
    instance,
    get up() {
      return current !== null;
    },
    get isStopping() {
      return stopping !== null;
    },
    start() {
      current ??= launch();
    },
    kill: () => end('SIGKILL', STOP_GRACE_MS),
    async stop() {
      const startedAt = performance.now();
      await end('SIGTERM', STOP_GRACE_MS);
      return performance.now() - startedAt;
    },
    pause: () => void current?.child.kill('SIGSTOP'),
    resume: () => void current?.child.kill('SIGCONT'),
    stepClock: () => {
      // Before it has come up, the signal would end it.
      if (current?.started === true) current.child.kill('SIGUSR2');
    },
    async replacePaused(forMs) {
      const zombie = current;
      if (zombie === null) return;
      zombie.dismissed = true;
      zombie.child.kill('SIGSTOP');
      [adminPort, otherPort] = [otherPort, adminPort];
      current = launch();
      zombies++;
      try {
        await sleep(forMs);
        await expectToGo(zombie);
      } finally {
        zombies--;
      }
    },
    pid: () => current?.child.pid,
    adminUrl: () => adminUrlAt(adminPort),
    problem: async () => (current === null ? null : readinessProblem(adminPort)),
  };
}

function adminUrlAt(port: number): string {
  return `http://127.0.0.1:${String(port)}`;
}

async function readinessProblem(adminPort: number): Promise<string | null> {
  try {
    const response = await fetch(`${adminUrlAt(adminPort)}/health/ready`, {
      signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
    });
    return response.ok ? null : `not ready: ${(await response.text()).slice(0, 300)}`;
  } catch (error) {
    return `no answer: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Resolves when the disturbance is over; false: the instance was not up. */
export async function disturbProcess(
  instance: AppInstance,
  disturbance: `${string}-${'kill' | 'pause' | 'replace' | 'restart'}`,
  forMs: number,
): Promise<boolean> {
  if (!instance.up) return false;
  if (disturbance.endsWith('-replace')) {
    await instance.replacePaused(forMs);
  } else if (disturbance.endsWith('-pause')) {
    instance.pause();
    await sleep(forMs);
    instance.resume();
  } else {
    await (disturbance.endsWith('-kill') ? instance.kill() : instance.stop());
    await sleep(forMs);
    instance.start();
  }
  return true;
}

/** Starts instances at once and resolves when all of them are ready. */
export async function startReady(processors: readonly AppInstance[]): Promise<void> {
  for (const processor of processors) processor.start();
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (const processor of processors) {
    for (let problem = await processor.problem(); problem !== null; problem = await processor.problem()) {
      if (performance.now() > deadline) throw new Error(`Instance ${String(processor.instance)} is ${problem}`);
      await sleep(100);
    }
  }
}

/** What keeps instances that are meant to run from being ready. */
export async function unreadyInstances(instances: readonly AppInstance[]): Promise<string[]> {
  const problems = await Promise.all(instances.map((one) => one.problem()));
  return problems.flatMap((problem, index) => (problem === null ? [] : [`instance ${String(index)} is ${problem}`]));
}
