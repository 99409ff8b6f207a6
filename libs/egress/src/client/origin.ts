import type { Socket } from 'node:net';
import type { ClientIdentity } from '../certificate/client-certificate.js';
import type { AbortGroup } from './abort-group.js';
import type { CheckedConnect } from './checked-connector.js';
import { Connection, type ConnectionOptions, type ConnectionOwner } from './connection.js';
import type { Exchange, ExchangeQueue } from './exchange.js';
import type { RequestTarget } from './request-head.js';

export type OriginTarget = Pick<RequestTarget, 'origin' | 'protocol' | 'hostname' | 'port'>;

/** Where the connections of an `Origin` lead, and with which identity. */
export interface OriginPlace extends OriginTarget {
  /** Differs between origins, and between client certificates. */
  readonly key: string;
  readonly identity: ClientIdentity | undefined;
}

export interface OriginOptions extends ConnectionOptions {
  readonly connect: CheckedConnect;
  readonly maxConnections: number;
}

/** A server that has just started must not be hit by all at once; Node's listen backlog is 511. */
const FIRST_OPENINGS = 4;

export interface OriginOwner {
  onBusy(origin: Origin): void;
  onIdle(origin: Origin): void;
  /** Whether the process may open one more socket for this origin; if not, the origin is woken when it may. */
  takeSocket(origin: Origin): boolean;
  returnSocket(origin: Origin): void;
}

/**
 * The connections to one origin with one client certificate or none, and the exchanges that wait for one, oldest first.
 * An exchange gets the most recently used connection: no more connections stay in use than needed, and the others
 * expire.
 *
 * If no connection is free, one is opened for the exchange, up to the limits. The exchange takes whichever is ready
 * first, that connection or a freed one; only the failure of its own connection fails it.
 *
 * Connections are opened a few at a time: one more with each success, so that their number doubles per round trip, and
 * twice as many with each second in which those being opened are stuck. A connection that waits for its lookup's turn
 * is not one of these few: it waits for its own fleet, for which no other is opened in the meantime.
 */
export class Origin implements ConnectionOwner, ExchangeQueue, BatchedWriter {
  private readonly waiting = new Set<Exchange>();
  /** Exchanges sent on an idle connection that had ended: they go first, on a new connection if there is room. */
  private readonly stale = new Set<Exchange>();
  /** Exchanges for which a connection is being opened; some may have been served or aborted since. */
  private readonly opening = new Set<Exchange>();
  /** Of these, by fleet, those that wait for their lookup's turn: one per fleet at a time. */
  private readonly withoutTurn = new Map<string, Exchange>();
  private readonly connections = new Set<Connection>();
  private readonly free: Connection[] = [];
  private maxOpenings = FIRST_OPENINGS;
  private busy = false;
  private closed: Error | undefined;
  private allClosed: (() => void) | undefined;

  constructor(
    readonly place: OriginPlace,
    private readonly owner: OriginOwner,
    private readonly batcher: WriteBatcher,
    private readonly options: OriginOptions,
  ) {}

  submit(exchange: Exchange): void {
    if (this.closed !== undefined) {
      exchange.fail(this.closed);
      return;
    }
    exchange.waitIn(this);
    this.waiting.add(exchange);
    this.batcher.add(this);
    this.notifyOwner();
  }

  leave(exchange: Exchange): void {
    if (this.waiting.delete(exchange) || this.stale.delete(exchange)) this.notifyOwner();
  }

  writeBatch(): void {
    const hasRoom = this.openFor(this.stale);
    if (!hasRoom) this.useFree(this.stale);
    this.useFree(this.waiting);
    if (hasRoom) this.openFor(this.waiting);
    this.notifyOwner();
  }

  onFree(connection: Connection): void {
    this.free.push(connection);
    this.wake();
  }

  onStale(exchange: Exchange): void {
    if (this.closed !== undefined) {
      exchange.fail(this.closed);
      return;
    }
    exchange.waitAgainIn(this);
    this.stale.add(exchange);
    this.wake();
  }

  onClosed(connection: Connection): void {
    this.connections.delete(connection);
    this.owner.returnSocket(this);
    const place = this.free.indexOf(connection);
    if (place >= 0) this.free.splice(place, 1);
    if (this.connections.size === 0) this.allClosed?.();
    this.wake();
  }

  /** The number of connections, including those being opened. */
  get sockets(): number {
    return this.connections.size + this.opening.size;
  }

  sweep(): void {
    for (const connection of this.connections) connection.sweep();
    for (const connection of this.free) if (!connection.isUsable()) connection.destroy();
    if (!this.hasMaxOpenings() || this.unsent().length <= this.opening.size) return;
    this.maxOpenings *= 2;
    this.wake();
  }

  isWithoutTurn(exchange: Exchange): boolean {
    const { owner } = exchange.request;
    const first = owner === undefined ? undefined : this.withoutTurn.get(owner.fleetId);
    return first === exchange || (first !== undefined && !this.opening.has(exchange));
  }

  /** Closes one idle connection; false if there are no more than `kept`. */
  closeIdle({ kept }: { kept: number }): boolean {
    const usable = this.free.filter((connection) => connection.isUsable());
    if (usable.length <= kept) return false;
    usable[0]?.destroy();
    return true;
  }

  abort(group: AbortGroup): void {
    const isMember = ({ request }: Exchange): boolean => request.group === group;
    for (const exchange of this.unsent()) if (isMember(exchange)) exchange.abort();
    for (const connection of this.connections) connection.abortIf(isMember);
  }

  /** Fails what is waiting, ends what is in flight, closes all connections; resolves when they are closed. */
  close(error: Error): Promise<void> {
    this.closed = error;
    for (const exchange of this.unsent()) exchange.fail(error);
    this.waiting.clear();
    this.stale.clear();
    for (const connection of this.connections) connection.abandon(error);
    if (this.connections.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.allClosed = resolve;
    });
  }

  private takeFree(): Connection | undefined {
    for (let connection = this.free.pop(); connection !== undefined; connection = this.free.pop()) {
      if (connection.isUsable()) return connection;
      connection.destroy();
    }
    return undefined;
  }

  private unsent(): readonly Exchange[] {
    return [...this.stale, ...this.waiting];
  }

  wake(): void {
    if (this.stale.size + this.waiting.size > 0) this.batcher.add(this);
    else this.notifyOwner();
  }

  private useFree(queue: Set<Exchange>): void {
    for (const exchange of queue) {
      if (exchange.withdrawIfUnwanted()) continue;
      const connection = this.takeFree();
      if (connection === undefined) return;
      queue.delete(exchange);
      connection.begin(exchange, { wasIdle: true });
    }
  }

  /** @returns false: the process has no room for one more socket */
  private openFor(queue: Set<Exchange>): boolean {
    for (const exchange of queue) {
      if (this.sockets >= this.options.maxConnections || this.hasMaxOpenings()) return true;
      if (this.opening.has(exchange) || this.isWithoutTurn(exchange)) continue;
      if (!this.owner.takeSocket(this)) return false;
      this.open(exchange);
    }
    return true;
  }

  private hasMaxOpenings(): boolean {
    return this.opening.size - this.withoutTurn.size >= this.maxOpenings;
  }

  private open(exchange: Exchange): void {
    this.opening.add(exchange);
    const connection = new Connection(this, this.options);
    const { protocol, hostname, port, identity } = this.place;
    const { owner } = exchange.request;
    const lookUp = { hasTurn: false };
    const onTurn = (): void => {
      if (lookUp.hasTurn) return;
      lookUp.hasTurn = true;
      if (owner !== undefined && this.withoutTurn.delete(owner.fleetId)) this.wake();
    };
    const target = { protocol, hostname, port, identity, owner, onTurn, onread: connection.onread() };
    this.options.connect(target, (error, socket) => {
      onTurn();
      this.opening.delete(exchange);
      if (socket === null) this.onOpenFailed(exchange, error);
      else this.onOpened(connection, socket);
    });
    if (!lookUp.hasTurn && owner !== undefined) this.withoutTurn.set(owner.fleetId, exchange);
  }

  private onOpened(connection: Connection, socket: Socket): void {
    this.connections.add(connection);
    this.maxOpenings = Math.min(this.maxOpenings + 1, this.options.maxConnections);
    connection.attach(socket);
    if (this.closed !== undefined) {
      connection.destroy();
      return;
    }
    // A new connection cannot have received unrequested bytes, so it need not wait for the batch.
    const oldest = this.unsent().find((exchange) => !exchange.withdrawIfUnwanted());
    if (oldest === undefined) {
      this.onFree(connection);
      return;
    }
    this.stale.delete(oldest);
    this.waiting.delete(oldest);
    connection.begin(oldest, { wasIdle: false });
    this.wake();
  }

  private onOpenFailed(exchange: Exchange, error: Error | null): void {
    this.owner.returnSocket(this);
    if (this.connections.size === 0) this.maxOpenings = FIRST_OPENINGS;
    if (this.waiting.delete(exchange) || this.stale.delete(exchange))
      exchange.fail(error ?? new Error('no connection'));
    this.wake();
    this.notifyOwner();
  }

  private notifyOwner(): void {
    const busy = this.waiting.size + this.stale.size > 0 || this.connections.size > this.free.length;
    if (busy === this.busy || this.closed !== undefined) return;
    this.busy = busy;
    if (busy) this.owner.onBusy(this);
    else this.owner.onIdle(this);
  }
}

interface BatchedWriter {
  writeBatch(): void;
}

/**
 * Writes all requests of one iteration of the event loop together, after the events that have already arrived. So
 * anything that an idle connection has received (its end, or unrequested bytes) is seen before it is reused, and cannot
 * be mistaken for the response.
 */
export class WriteBatcher {
  private waiting = new Set<BatchedWriter>();

  /** Adds a writer; it runs once even if it is already waiting. */
  add(writer: BatchedWriter): void {
    if (this.waiting.size === 0) setImmediate(this.run);
    this.waiting.add(writer);
  }

  private readonly run = (): void => {
    const due = this.waiting;
    this.waiting = new Set();
    for (const writer of due) writer.writeBatch();
  };
}
