import { fileURLToPath } from 'node:url';
import { startWorker } from '../../shared/processes/worker.js';
import type { HistoryStack } from '../stack/history-stack.js';
import type { LoadPlan, Projected } from './projector.js';

export type Projector = Awaited<ReturnType<typeof startProjector>>;

/** A process that projects, as history-projector does. */
export async function startProjector(stack: HistoryStack, environment: Readonly<Record<string, string>>) {
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
    /** Resolves when the log is over or `stop` was called. */
    project: (log: string, plan: LoadPlan) => during({ type: 'project', log, plan }),
    rehearse: (plan: LoadPlan) => during({ type: 'rehearse', plan }),
    stop: async () => {
      await worker.ask({ type: 'stop' });
    },
    /** Of what is going on, some half a second old. */
    progress: () => progress,
    usage: () => worker.usage(),
    end: () => worker.stop(),
  };
}
