import { runCommand } from './run-command.js';
import { callerDirectory } from './stack/stack-config.js';
import { isBrokenPipe } from './terminal/output.js';

// A reader that has gone is not a failure: what a command does, and its exit code, count all the same (`endsWithReader`).
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    if (!isBrokenPipe(error)) process.exit(1);
  });
}

const terminal = { out: process.stdout, err: process.stderr };
const exitCode = await runCommand(process.argv.slice(2), {
  terminal,
  now: Date.now,
  callerDir: callerDirectory(),
  endWithReader: () => process.exit(0),
});
// Ends also when a client library has left a timer or a socket behind; what was written goes out first.
process.stdout.write('', () => process.exit(exitCode));
