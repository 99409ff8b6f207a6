import { join } from 'node:path';
import type { Guardian } from '../../../tools/dev-stack/index.js';
import { describeExit } from '../../../tools/dev-stack/processes/managed-process.js';
import { spawnGuarded } from '../../../tools/dev-stack/processes/spawn-guarded.js';
import { type ProcessUsage, usageOf } from './process-usage.js';
import type { Envelope, Notice, Reply } from './serve-requests.js';

/** A process of the benchmark itself, asked over a channel. */
export interface Worker {
  ask<T>(request: object): Promise<T>;
  usage(): ProcessUsage;
  stop(): void;
}

export interface WorkerOptions {
  readonly name: string;
  readonly program: string;
  readonly guardian: Guardian;
  readonly logsDir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly onNotice?: (value: unknown) => void;
}

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

export function startWorker({ name, program, guardian, logsDir, env, onNotice }: WorkerOptions): Worker {
  const { child, exited } = spawnGuarded(
    { file: process.execPath, args: [program], env, channel: true },
    { guardian, logFile: join(logsDir, `${name}.log`), orphanSignal: 'SIGKILL' },
  );
  const waiting = new Map<number, Waiting>();
  let number = 0;
  let ended: string | null = null;

  child.on('message', (message) => {
    const reply = message as Reply | Notice;
    if (reply.type === 'notice') {
      onNotice?.(reply.value);
      return;
    }
    const asked = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (reply.type === 'done') asked?.resolve(reply.result);
    else asked?.reject(new Error(`${name}: ${reply.message}`));
  });
  void exited.then((exit) => {
    ended = `${name} has ended (${describeExit(exit)}).`;
    for (const { reject } of waiting.values()) reject(new Error(ended));
  });

  return {
    ask: <T>(request: object) =>
      new Promise<T>((resolve, reject) => {
        if (ended !== null) {
          reject(new Error(ended));
          return;
        }
        number += 1;
        waiting.set(number, { resolve: (result) => resolve(result as T), reject });
        child.send({ id: number, request } satisfies Envelope);
      }),
    usage: () => usageOf(child.pid ?? 0),
    stop: () => {
      if (ended === null) child.kill('SIGKILL');
    },
  };
}
