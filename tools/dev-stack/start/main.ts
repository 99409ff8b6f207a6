import { BootError } from '@waypost/platform/without-nest';
import { StackError } from '../stack-error.js';
import { createTerminalReporter } from '../stack-reporter.js';
import { builtPrograms } from './programs.js';
import { setUpStack } from './set-up.js';
import { readStartConfig } from './start-config.js';
import { parseStartFlags } from './start-flags.js';
import { stopRequest } from './stop-request.js';
import { type RunningStack, superviseStack } from './supervisor.js';

const startedAt = performance.now();
// A terminal that closes takes the output with it; the stack stops on the hang-up signal, not on a failed write.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

const reporter = createTerminalReporter({ stream: process.stdout });

function announce({ apiUrl, adminKey, dataDir, instances }: RunningStack): void {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const health = instances.map(({ process: { name }, adminUrl }) => `  Health    ${adminUrl}/health/ready (${name})`);
  const lines = [
    `  Console   ${apiUrl}/`,
    `  Operators ${apiUrl}/fleets#key=${adminKey}`,
    `  API       ${apiUrl}`,
    `  OpenAPI   ${apiUrl}/public/openapi.json`,
    ...health,
    `  Logs      ${dataDir.logsDir}`,
  ];
  for (const line of lines) reporter.note(line);
  reporter.note(`ready in ${seconds} s; Ctrl-C stops everything`);
}

try {
  const flags = parseStartFlags(process.argv.slice(2));
  const config = readStartConfig();
  const signal = stopRequest({
    watchParent: config.startedByNpm,
    watchInput: config.supervised,
    onRequest: (reason) => reporter.note(`Stopping (${reason})`),
  });
  const onDemoOutput = (text: string): void => {
    for (const line of text.trimEnd().split('\n')) reporter.note(line);
  };
  await superviseStack(
    { flags, config, programs: builtPrograms(), setUp: setUpStack, reporter, onDemoOutput },
    signal,
    announce,
  );
  process.exit(0);
} catch (error) {
  const expected = error instanceof StackError || error instanceof BootError;
  process.stderr.write(expected ? `${error.message}\n` : `${String(error instanceof Error ? error.stack : error)}\n`);
  process.exit(1);
}
