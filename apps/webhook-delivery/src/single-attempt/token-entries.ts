import type { BearerAuth } from '@waypost/domain';
import type { WithdrawnRequest } from './token-request.js';

/** One issued token. If an endpoint returns the same text again, that counts as a new one. */
export interface IssuedToken {
  readonly authorization: string;
  /** Monotonic. */
  readonly validUntilMs: number;
}

export type RequestedToken =
  | { readonly type: 'token'; readonly issued: IssuedToken }
  /** `detail` is human-readable and contains no secret. */
  | { readonly type: 'failed'; readonly detail: string };

export type RequestResult = RequestedToken | WithdrawnRequest;

export interface TokenEntry {
  readonly subscriptionId: string;
  /** A changed client or token URL must not use the token of the old one. */
  auth: BearerAuth;
  /** Set only by `TokenEntries.issue`. */
  issued: IssuedToken | undefined;
  request: Promise<RequestResult> | undefined;
  /** False while the request waits for its turn. */
  hasPlace: boolean;
  failures: number;
  lastFailure: string;
  /** No request starts before this, monotonic. */
  retryMs: number;
}

export interface TokenEntriesOptions {
  readonly maxSubscriptions: number;
  readonly maxBytes: number;
  readonly monotonicMs: () => number;
}

/** An entry in the index, and what it counts for. */
interface KeptEntry {
  readonly entry: TokenEntry;
  readonly fleetId: string;
  readonly fleet: FleetEntries;
}

interface FleetEntries {
  bytes: number;
  /** Ordered by request, oldest first. */
  readonly kept: Set<KeptEntry>;
}

/** Entries checked per request, so that an expired token that no attempt asks for again leaves memory. */
const LOOKS_PER_REQUEST = 8;

/**
 * Holds the known token of each subscription. Bounded, since nothing tells which subscriptions will not come back: the
 * fleet with the most entries loses those with the oldest requests.
 */
export class TokenEntries {
  private readonly kept = new Map<string, KeptEntry>();
  /** Ordered by last request, oldest first. */
  private readonly fleets = new Map<string, FleetEntries>();
  private bytes = 0;
  private round: Iterator<KeptEntry> = this.kept.values();

  constructor(private readonly options: TokenEntriesOptions) {}

  get size(): number {
    return this.kept.size;
  }

  /** Also undefined if the entry belongs to another client. */
  find(subscriptionId: string, auth: BearerAuth): TokenEntry | undefined {
    const entry = this.any(subscriptionId);
    if (entry === undefined || entry.auth === auth) return entry;
    if (!sameAuth(entry.auth, auth)) return undefined;
    // Makes the next lookup of this version of the subscription compare by identity.
    entry.auth = auth;
    return entry;
  }

  any(subscriptionId: string): TokenEntry | undefined {
    return this.kept.get(subscriptionId)?.entry;
  }

  /** Call at each token request. */
  keep(entry: TokenEntry, fleetId: string): void {
    this.dropExpired();
    this.remove(this.kept.get(entry.subscriptionId));
    const fleet = this.fleets.get(fleetId) ?? { bytes: 0, kept: new Set() };
    this.fleets.delete(fleetId);
    this.fleets.set(fleetId, fleet);
    const kept = { entry, fleetId, fleet };
    this.kept.set(entry.subscriptionId, kept);
    fleet.kept.add(kept);
    this.count(kept, bytesOf(entry));
    this.evict();
  }

  /** @param issued undefined: the entry has no token */
  issue(entry: TokenEntry, issued: IssuedToken | undefined): void {
    const before = bytesOf(entry);
    entry.issued = issued;
    const kept = this.kept.get(entry.subscriptionId);
    // An evicted entry still serves those that wait for its request.
    if (kept?.entry !== entry) return;
    this.count(kept, bytesOf(entry) - before);
    this.evict();
  }

  /** Returns the token of the entry. An expired one is forgotten. */
  valid(entry: TokenEntry | undefined): IssuedToken | undefined {
    if (entry?.issued === undefined) return undefined;
    if (entry.issued.validUntilMs > this.options.monotonicMs()) return entry.issued;
    this.issue(entry, undefined);
    return undefined;
  }

  private dropExpired(): void {
    for (let looks = Math.min(LOOKS_PER_REQUEST, this.kept.size); looks > 0; looks--) {
      let next = this.round.next();
      if (next.done === true) {
        this.round = this.kept.values();
        next = this.round.next();
        if (next.done === true) return;
      }
      const { entry } = next.value;
      const isExpired = entry.issued !== undefined && this.valid(entry) === undefined;
      if (isExpired && entry.request === undefined) this.remove(next.value);
    }
  }

  private evict(): void {
    const { maxSubscriptions, maxBytes } = this.options;
    while (this.kept.size > maxSubscriptions) this.evictFrom(({ kept }) => kept.size);
    while (this.bytes > maxBytes) this.evictFrom(({ bytes }) => bytes);
  }

  private evictFrom(sizeOf: (fleet: FleetEntries) => number): void {
    let largest: FleetEntries | undefined;
    for (const fleet of this.fleets.values())
      if (largest === undefined || sizeOf(fleet) > sizeOf(largest)) largest = fleet;
    const [oldest] = largest?.kept ?? [];
    this.remove(oldest);
  }

  private remove(kept: KeptEntry | undefined): void {
    if (kept === undefined) return;
    const { entry, fleetId, fleet } = kept;
    this.kept.delete(entry.subscriptionId);
    fleet.kept.delete(kept);
    this.count(kept, -bytesOf(entry));
    if (fleet.kept.size === 0) this.fleets.delete(fleetId);
  }

  private count({ fleet }: KeptEntry, bytes: number): void {
    fleet.bytes += bytes;
    this.bytes += bytes;
  }
}

/** A token is visible ASCII, one byte per character. */
function bytesOf({ issued }: TokenEntry): number {
  return issued?.authorization.length ?? 0;
}

export function newTokenEntry(subscriptionId: string, auth: BearerAuth): TokenEntry {
  return {
    subscriptionId,
    auth,
    issued: undefined,
    request: undefined,
    hasPlace: false,
    failures: 0,
    lastFailure: '',
    retryMs: -Infinity,
  };
}

export function sameAuth(a: BearerAuth, b: BearerAuth): boolean {
  return (
    a.tokenUrl === b.tokenUrl &&
    a.clientId === b.clientId &&
    a.sealedClientSecret === b.sealedClientSecret &&
    a.scope === b.scope &&
    a.audience === b.audience &&
    a.tokenAuthMethod === b.tokenAuthMethod
  );
}
