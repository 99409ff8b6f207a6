import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import type { Command } from 'commander';
import { createProgram } from './program.js';

function build() {
  const out = new PassThrough();
  const err = new PassThrough();
  const program = createProgram({
    terminal: { out, err },
    now: () => 0,
    callerDir: '/',
    endWithReader: () => undefined,
  });
  const run = async (...args: readonly string[]) => {
    const outcome = await program.parseAsync(args, { from: 'user' }).then(
      () => null,
      (error: unknown) => error,
    );
    return { outcome, out: String(out.read() ?? ''), err: String(err.read() ?? '') };
  };
  return { program, run };
}

/** The names of all commands that run. */
function leavesOf({ commands }: Command): string[] {
  return commands.flatMap((command) => {
    const below = leavesOf(command);
    return below.length === 0 ? [command.name()] : below.map((name) => `${command.name()} ${name}`);
  });
}

describe('The command line', () => {
  it.each(leavesOf(build().program))('explains "%s" and takes --data-dir there', async (name) => {
    const { out, outcome } = await build().run(...name.split(' '), '--help');
    expect(outcome).toMatchObject({ exitCode: 0 });
    expect(out).toContain('--data-dir <dir>');
  });

  it.each([
    [['nope'], "unknown command 'nope'"],
    [['publish', '--fleet', 'f'], "missing required argument 'file'"],
    [['publish', 'f.ndjson'], "required option '--fleet <id>' not specified"],
    [['wait'], "required option '--idle <seconds>' not specified"],
    [['fleet', 'create', 'a', '--format', 'v9'], 'Allowed choices are v1, legacy-v1'],
    [['verify', '--rules', 'some'], 'Allowed choices are all, positions'],
    [['backtest', '--rules', 'some'], 'Allowed choices are all, positions'],
    [['rebuild', '--yes', '--watch'], "option '--watch' cannot be used with option '--yes'"],
    [['history', '--fleet', 'f', '--status', 'lost'], 'Allowed choices are delivered, failed, pending'],
  ])('says what is wrong with %j', async (args, message) => {
    const { err, outcome } = await build().run(...args);
    expect(outcome).toMatchObject({ name: 'CommanderError', exitCode: 1 });
    expect(err).toContain(message);
  });

  it.each([
    [['read', 'fleet.events', '--from', 'yesterday'], /"yesterday" is not a time/],
    [['read', 'fleet.events', '--from', '20', '--to', '10'], /--from must be before --to/],
    [['publish', 'f', '--fleet', 'x', '--rate', '0'], /"0" is not a number above 0/],
    [['subscribe', '--fleet', 'f', '--url', 'u', '--event-types', 'a,,b'], /not a comma-separated list/],
    [['rejected', 'republish'], /Select records/],
  ])('refuses %j', async (args, message) => {
    const { outcome } = await build().run(...args);
    expect(outcome).toMatchObject({ name: 'CliError', exitCode: 2, message: expect.stringMatching(message) });
  });
});
