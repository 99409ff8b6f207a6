/* The real supervisor with the real parts, but with fake applications and without topics, schemas and tables. */
import { fileURLToPath } from 'node:url';
import { createTerminalReporter } from '../../../tools/dev-stack/stack-reporter.js';
import { readStartConfig } from '../../../tools/dev-stack/start/start-config.js';
import { APP_NAMES, type AppName, parseStartFlags } from '../../../tools/dev-stack/start/start-flags.js';
import { stopRequest } from '../../../tools/dev-stack/start/stop-request.js';
import { superviseStack } from '../../../tools/dev-stack/start/supervisor.js';

const app = fileURLToPath(new URL('./app.mjs', import.meta.url));
const reporter = createTerminalReporter({ stream: process.stdout });

function setUp(): Promise<void> {
  if (process.env['WAYPOST_FAKE_SET_UP'] !== 'endless') return Promise.resolve();
  reporter.note('setting up');
  return new Promise(() => undefined);
}

try {
  await superviseStack(
    {
      flags: parseStartFlags(process.argv.slice(2)),
      config: readStartConfig(),
      programs: {
        apps: Object.fromEntries(APP_NAMES.map((name) => [name, app])) as Record<AppName, string>,
        demoSubscriber: app,
        simulator: app,
      },
      setUp,
      reporter,
      onDemoOutput: () => undefined,
    },
    stopRequest({ watchParent: true, watchInput: true, onRequest: reporter.note }),
    () => reporter.note('ready'),
  );
  process.exit(0);
} catch (error) {
  reporter.note(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
