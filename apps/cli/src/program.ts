import { Command } from 'commander';
import { addBacktest, addVerify } from './command-definitions/analysis-commands.js';
import type { ProgramContext } from './command-definitions/command.js';
import { addFleetCommands, addHistory, addSubscribe } from './command-definitions/fleet-commands.js';
import {
  addDoctor,
  addKeyCommands,
  addRebuild,
  addRefill,
  addSetUp,
  addStateCommands,
  addTaskCommands,
  addWait,
} from './command-definitions/stack-commands.js';
import { addPublish, addRead, addRejectedCommands } from './command-definitions/topic-commands.js';

/** Every command loads its own code when it runs, so that `--help` and usage errors are instant. */
export function createProgram(context: ProgramContext): Command {
  const { terminal } = context;
  const program = new Command('waypost')
    .description('Manages a Waypost stack: fleets, subscriptions, pings, topics, history.')
    .showHelpAfterError('(add --help to see the options of this command)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.out.write(text),
      writeErr: (text) => void terminal.err.write(text),
    })
    .addHelpText(
      'after',
      '\nCommands find the stack by its data directory. KAFKA_BROKERS, SCHEMA_REGISTRY_URL, DATABASE_URL,\n' +
        'WAYPOST_API_URL and WAYPOST_ADMIN_URLS each override one of its addresses.',
    );
  addFleetCommands(program, context);
  addSubscribe(program, context);
  addPublish(program, context);
  addRead(program, context);
  addBacktest(program, context);
  addVerify(program, context);
  addWait(program, context);
  addHistory(program, context);
  addRejectedCommands(program, context);
  addTaskCommands(program, context);
  addRebuild(program, context);
  addRefill(program, context);
  addStateCommands(program, context);
  addKeyCommands(program, context);
  addSetUp(program, context);
  addDoctor(program, context);
  return program;
}
