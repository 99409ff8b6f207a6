import { Command } from 'commander';
import { defaultDataDir } from '../../apps/cli/src/stack/stack-config.js';

interface Flags {
  readonly dataDir: string;
  readonly fleet: string;
  readonly host: string;
  readonly consoleUrl?: string;
}

const command = new Command('demo-subscriber')
  .description("Receives a fleet's webhooks and verifies every signature.")
  .option('--data-dir <dir>', 'data directory of the stack', defaultDataDir)
  .option('--fleet <id>', 'the fleet; created if it does not exist', 'demo')
  .option('--host <name>', 'name by which webhook-delivery reaches this host (default: this machine only)', '127.0.0.1')
  .option('--console-url <url>', 'address of the console in your browser (default: that of the API)')
  .action(async (flags: Flags) => {
    const { runSubscriber, stopSignal } = await import('./program.js');
    const print = (line: string): void => void process.stdout.write(`${line}\n`);
    await runSubscriber({ ...flags, now: Date.now, stopped: stopSignal(), print });
  });

try {
  await command.parseAsync(process.argv);
  process.exit(0);
} catch (error) {
  process.stderr.write(`demo-subscriber: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
