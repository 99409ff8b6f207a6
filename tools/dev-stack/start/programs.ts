import { join } from 'node:path';
import { projectRoot } from '../project-root.js';
import { APP_NAMES, type AppName } from './start-flags.js';

/** Entry files of the processes that a stack runs. */
export interface Programs {
  readonly apps: Readonly<Record<AppName, string>>;
  readonly demoSubscriber: string;
  readonly simulator: string;
}

export function builtPrograms(): Programs {
  const built = join(projectRoot(), 'dist');
  const apps = APP_NAMES.map((name) => [name, join(built, 'apps', name, 'src', 'main.js')] as const);
  return {
    apps: Object.fromEntries(apps) as Record<AppName, string>,
    demoSubscriber: join(built, 'tools', 'demo-subscriber', 'main.js'),
    simulator: join(built, 'tools', 'simulator', 'main.js'),
  };
}

/** What stands out from the nice level of the stack: webhook-delivery gets a core first (docs/decisions/0084). */
export const APP_NICENESS: Readonly<Partial<Record<AppName, number>>> = { 'webhook-delivery': -20 };
