import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';

/** Addresses by name, names in lower case. */
export type HostsTable = ReadonlyMap<string, readonly string[]>;

/** Lines of `address name [name...]`; what is not an address or follows a `#` does not count. */
export function parseHosts(text: string): HostsTable {
  const table = new Map<string, string[]>();
  for (const line of text.split(/\r?\n/)) {
    const [address = '', ...names] = line.replace(/#.*$/, '').trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of names.map((each) => each.toLowerCase())) {
      const known = table.get(name);
      if (known === undefined) table.set(name, [address]);
      else if (!known.includes(address)) known.push(address);
    }
  }
  return table;
}

export interface HostsFileOptions {
  readonly path: string;
  readonly now: () => number;
  /** A change of the file is seen after this. */
  readonly maxAgeMs: number;
}

/** Reads the file when its last reading is too old. No file, or one that cannot be read, is an empty table. */
export function createHostsFile({ path, now, maxAgeMs }: HostsFileOptions): () => Promise<HostsTable> {
  let reading: Promise<HostsTable> | undefined;
  let readAtMs = 0;
  return () => {
    if (reading === undefined || now() - readAtMs >= maxAgeMs) {
      readAtMs = now();
      reading = readFile(path, 'utf8').then(parseHosts, () => new Map());
    }
    return reading;
  };
}
