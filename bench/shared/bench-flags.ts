import { Command, InvalidArgumentError, Option } from 'commander';

/** One option of a benchmark, with its value where the command line does not give one. */
export interface Flag<T> {
  /** What help calls the value; undefined: a switch. */
  readonly value?: string;
  readonly description: string;
  readonly parse?: (text: string) => T;
  readonly full: T;
  /** With `--quick`. */
  readonly quick: T;
}

type FlagTable = Readonly<Record<string, Flag<unknown>>>;

export interface CommonFlags {
  readonly quick: boolean;
  readonly dataDir: string;
  readonly keep: boolean;
  readonly writeDocs: boolean;
}

/** The values of a table of flags, with those of every benchmark. */
export type FlagsOf<Table extends FlagTable> = CommonFlags & {
  readonly [Name in keyof Table]: Table[Name] extends Flag<infer Value> ? Value : never;
};

/** `configure` lets a test keep commander from ending the process. */
type ParseFlags<Flags> = (args: readonly string[], configure?: (command: Command) => void) => Flags;

/** Parses a benchmark's command line; `--help` and usage errors end as commander ends them, with exit codes 0 and 1. */
export function flagsParser<Table extends FlagTable>(
  bench: { readonly name: string; readonly description: string; readonly quick: string },
  table: Table,
): ParseFlags<FlagsOf<Table>> {
  const flags: FlagTable = {
    quick: toggle(bench.quick),
    ...table,
    dataDir: text('dir', 'the data of the benchmark', `.waypost/bench-${bench.name}`),
    keep: toggle('keep the data for the next run, and use what an earlier run has kept'),
    writeDocs: toggle('write the results to docs/benchmarks.md'),
  };
  return (args, configure = () => undefined) => {
    const command = new Command(`npm run bench:${bench.name} --`).description(bench.description);
    for (const [name, flag] of Object.entries(flags)) command.addOption(optionOf(name, flag));
    configure(command);
    command.allowExcessArguments(false).parse(args, { from: 'user' });
    const given = command.opts<Record<string, unknown>>();
    const size = given['quick'] === true ? 'quick' : 'full';
    const defaults = Object.entries(flags).map(([name, flag]) => [name, flag[size]]);
    return { ...Object.fromEntries(defaults), ...given } as FlagsOf<Table>;
  };
}

function optionOf(name: string, { value, description, parse, full, quick }: Flag<unknown>): Option {
  const long = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  if (value === undefined) return new Option(long, description);
  const defaults = String(full) === String(quick) ? String(full) : `${String(full)}, quick ${String(quick)}`;
  const isListed = full !== undefined && defaults !== '';
  const option = new Option(`${long} <${value}>`, isListed ? `${description} (default: ${defaults})` : description);
  return parse === undefined ? option : option.argParser(parse);
}

export function toggle(description: string): Flag<boolean> {
  return { description, full: false, quick: false };
}

/** A whole number of at least `least`. */
export function count(description: string, full: number, quick = full, least = 1): Flag<number> {
  return { value: 'n', description, parse: (digits) => parseCount(digits, least), full, quick };
}

export function counts(description: string, full: readonly number[], quick = full): Flag<readonly number[]> {
  return { value: 'list', description, parse: (list) => itemsOf(list).map((item) => parseCount(item, 1)), full, quick };
}

/** Some of the known names; all of them unless given. */
export function some<Name extends string>(known: readonly Name[]): Flag<readonly Name[]> {
  const nameOf = (item: string): Name => {
    const found = known.find((name) => name === item);
    if (found === undefined) throw new InvalidArgumentError(`It must be one of ${known.join(', ')}.`);
    return found;
  };
  return {
    value: 'list',
    description: 'some of them',
    parse: (list) => itemsOf(list).map(nameOf),
    full: known,
    quick: known,
  };
}

function text(value: string, description: string, preset: string): Flag<string> {
  return { value, description, full: preset, quick: preset };
}

/** Another build than the one of this checkout. */
export const DIST: Flag<string | undefined> = {
  value: 'dir',
  description: 'another build of the measured applications',
  full: undefined,
  quick: undefined,
};

/** Of Node, for the measured applications. */
export const NODE_FLAGS: Flag<readonly string[]> = {
  value: 'flags',
  description: 'flags of Node for the measured application',
  full: [],
  quick: [],
  parse: (flags) => flags.split(/\s+/).filter((flag) => flag !== ''),
};

export const PROFILE = toggle('report where the CPU time of the measured application goes');
export const SERVE = toggle('only start the stack and keep it running: runs on the same data directory use it');

function itemsOf(list: string): string[] {
  return list.split(',').map((item) => item.trim());
}

function parseCount(digits: string, least: number): number {
  const number = /^\d{1,12}$/.test(digits) ? Number(digits) : NaN;
  if (number >= least) return number;
  throw new InvalidArgumentError(`It must be a whole number of at least ${String(least)}.`);
}
