const SHARE_OF_FREE = 0.5;

/**
 * how much more of a resource a fleet may take, in whatever unit it is counted; 0 or less: nothing. The share is a
 * part of what is free, never a fixed number, so a single fleet gets at most a third and something is always left.
 *
 * @param used by all fleets
 * @param own of what is used, the fleet's
 */
export function freeForFleet(limit: number, used: number, own: number): number {
  return (limit - used) * SHARE_OF_FREE - own;
}
