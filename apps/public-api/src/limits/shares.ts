/** Who takes from what a process can give. */
export interface ShareTaker {
  readonly fleetId: string;
  readonly keyId: string;
}

/** The most that each may have at a time, in any one unit. */
export interface ShareLimits {
  readonly key: number;
  readonly fleet: number;
  readonly process: number;
}

export type Share =
  | { readonly type: 'taken'; readonly giveBack: () => void }
  /** `whose` has as much as it may. */
  | { readonly type: 'full'; readonly whose: keyof ShareLimits; readonly most: number };

/** Something that a process has little of, at a time: no key and no fleet takes all of it. */
export class Shares {
  private readonly byKey = new Map<string, number>();
  private readonly byFleet = new Map<string, number>();
  private taken = 0;

  constructor(private readonly limits: ShareLimits) {}

  /** Who has nothing gets any amount, or something larger than the limit could never be had. */
  take({ fleetId, keyId }: ShareTaker, amount = 1): Share {
    const holders = [
      { whose: 'key', current: this.byKey.get(keyId) ?? 0 },
      { whose: 'fleet', current: this.byFleet.get(fleetId) ?? 0 },
      { whose: 'process', current: this.taken },
    ] as const;
    const full = holders.find(({ whose, current }) => current > 0 && current + amount > this.limits[whose]);
    if (full) return { type: 'full', whose: full.whose, most: this.limits[full.whose] };
    const change = (by: number): void => {
      this.taken += by;
      add(this.byKey, keyId, by);
      add(this.byFleet, fleetId, by);
    };
    change(amount);
    return { type: 'taken', giveBack: () => change(-amount) };
  }
}

function add(amounts: Map<string, number>, holder: string, by: number): void {
  const amount = (amounts.get(holder) ?? 0) + by;
  if (amount === 0) amounts.delete(holder);
  else amounts.set(holder, amount);
}
