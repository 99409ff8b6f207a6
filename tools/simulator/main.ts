import { Command } from 'commander';
import { parsePositive } from '../../apps/cli/src/parse-arguments.js';
import { defaultDataDir } from '../../apps/cli/src/stack/stack-config.js';

/** A simulated fleet that publishes pings like any producer. */
interface Flags {
  readonly dataDir: string;
  readonly fleet: string;
  readonly vehicles: number;
  readonly seed: number;
  readonly speedUp: number;
}

const command = new Command('simulator')
  .description('Drives a fleet through an invented city and publishes its pings.')
  .option('--data-dir <dir>', 'data directory of the stack', defaultDataDir)
  .option('--fleet <id>', 'the fleet; created if it does not exist', 'demo')
  .option('--vehicles <n>', 'number of vehicles', parsePositive, 100)
  .option('--seed <n>', 'seed of the city and everything in it', parsePositive, 1)
  .option('--speed-up <n>', 'simulated seconds per second: a faster fleet begins a day ago', parsePositive, 1)
  .action(async (options: Flags) => {
    const { simulate, stopSignal } = await import('./program.js');
    await simulate({
      options,
      now: Date.now,
      stopped: stopSignal(),
      print: (line) => void process.stdout.write(`${line}\n`),
    });
  });

try {
  await command.parseAsync(process.argv);
  process.exit(0);
} catch (error) {
  process.stderr.write(`simulator: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
