import { InvalidArgumentError, type Command } from 'commander';

/** Parses the command line; `--help` and usage errors end as commander ends them, with exit codes 0 and 1. */
export function parseFlags<Flags extends { readonly quick: boolean }, Sized extends keyof Flags>(
  command: Command,
  args: readonly string[],
  sizes: { readonly full: Pick<Flags, Sized>; readonly quick: Pick<Flags, Sized> },
): Flags {
  command.allowExcessArguments(false).parse(args, { from: 'user' });
  const given = command.opts<Partial<Flags>>();
  return { ...(given.quick === true ? sizes.quick : sizes.full), ...given } as Flags;
}

export function parseNumber(text: string): number {
  if (!/^\d{1,12}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

export function parseCount(text: string): number {
  const count = /^\d{1,12}$/.test(text) ? Number(text) : 0;
  if (count < 1) throw new InvalidArgumentError('It must be a whole number from 1 on.');
  return count;
}

export function parseWords(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

export function oneOf<T extends string>(known: readonly T[]): (text: string) => T {
  return (text) => {
    const found = known.find((name) => name === text);
    if (found === undefined) throw new InvalidArgumentError(`It must be one of ${known.join(', ')}.`);
    return found;
  };
}

export function listOf<T>(parse: (text: string) => T): (text: string) => T[] {
  return (text) => text.split(',').map((item) => parse(item.trim()));
}
