import { fileURLToPath } from 'node:url';
import type { ProcessUsage } from '../../shared/processes/process-usage.js';
import { startWorker } from '../../shared/processes/worker.js';
import type { HistoryStack } from '../stack/history-stack.js';
import type { LoadPlan, Projected } from './projector.js';

/** A process that projects, as history-projector does. */
export interface Projector {
  /** Resolves when the log is over or `stop` was called. */
  project(log: string, plan: LoadPlan): Promise<Projected>;
  rehearse(plan: LoadPlan): Promise<Projected>;
  stop(): Promise<void>;
  /** Of what is going on, some half a second old. */
  progress(): Projected | null;
  usage(): ProcessUsage;
  end(): void;
}

export async function startProjector(
  stack: HistoryStack,
  environment: Readonly<Record<string, string>>,
): Promise<Projector> {
  let progress: Projected | null = null;
  const worker = startWorker({
    name: 'projector',
    program: fileURLToPath(new URL('./projector-main.js', import.meta.url)),
    guardian: stack.guardian,
    logsDir: stack.logsDir,
    env: environment,
    onNotice: (value) => {
      progress = value as Projected;
    },
  });
  await worker.ask({ type: 'connect', databaseUrl: stack.databaseUrl });
  const during = (request: object): Promise<Projected> => {
    progress = null;
    return worker.ask<Projected>(request);
  };
  return {
    project: (log, plan) => during({ type: 'project', log, plan }),
    rehearse: (plan) => during({ type: 'rehearse', plan }),
    stop: async () => {
      await worker.ask({ type: 'stop' });
    },
    progress: () => progress,
    usage: () => worker.usage(),
    end: () => worker.stop(),
  };
}
