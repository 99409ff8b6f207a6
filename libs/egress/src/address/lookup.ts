export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Resolves a name to all its addresses; rejects as `dns.lookup` does. */
export type Lookup = (hostname: string) => Promise<readonly ResolvedAddress[]>;
