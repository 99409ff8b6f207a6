import type { Socket } from 'node:net';
import type { AbortGroup } from './abort-group.js';
import { Connection, type ConnectionOptions, type ConnectionOwner } from './connection.js';
import type { CheckedConnect } from './checked-connector.js';
import type { Exchange, ExchangeQueue } from './exchange.js';
import type { RequestTarget } from './request-target.js';
import type { Turn, TurnTask } from './turn.js';

export type OriginTarget = Pick<RequestTarget, 'origin' | 'protocol' | 'hostname' | 'port'>;

export interface OriginOptions extends ConnectionOptions {
  readonly connect: CheckedConnect;
  readonly maxConnections: number;
  readonly turn: Turn;
}

/** Told when the first exchange comes and when the last one is over. */
export interface OriginOwner {
  onBusy(origin: Origin): void;
  onIdle(origin: Origin): void;
}

/**
 * The connections to one origin and the exchanges that wait for one, oldest first. An exchange gets the connection that
 * was used last: so many stay in use as are needed, and the others grow old.
 *
 * An exchange that finds none free has one opened, up to the bound. It takes whichever comes first, that one or one
 * that becomes free; only the failure of its own is its failure.
 */
export class Origin implements ConnectionOwner, ExchangeQueue, TurnTask {
  private readonly waiting = new Set<Exchange>();
  /** Those that a connection is being opened for; a few have been served or given up since. */
  private readonly opening = new Set<Exchange>();
  private readonly connections = new Set<Connection>();
  private readonly free: Connection[] = [];
  private busy = false;
  private closed: Error | undefined;
  private allClosed: (() => void) | undefined;

  constructor(
    readonly target: OriginTarget,
    private readonly owner: OriginOwner,
    private readonly options: OriginOptions,
  ) {}

  submit(exchange: Exchange): void {
    if (this.closed !== undefined) {
      exchange.fail(this.closed);
      return;
    }
    exchange.waitIn(this);
    this.waiting.add(exchange);
    this.options.turn.add(this);
    this.tellUse();
  }

  leave(exchange: Exchange): void {
    if (this.waiting.delete(exchange)) this.tellUse();
  }

  takeTurn(): void {
    for (const exchange of this.waiting) {
      const connection = this.takeFree();
      if (connection === undefined) break;
      this.serve(exchange, connection);
    }
    this.openMissing();
    this.tellUse();
  }

  onFree(connection: Connection): void {
    this.free.push(connection);
    if (this.waiting.size > 0) this.options.turn.add(this);
    else this.tellUse();
  }

  onClosed(connection: Connection): void {
    this.connections.delete(connection);
    const place = this.free.indexOf(connection);
    if (place >= 0) this.free.splice(place, 1);
    if (this.connections.size === 0) this.allClosed?.();
    if (this.waiting.size > 0) this.options.turn.add(this);
    else this.tellUse();
  }

  /** Closes the idle connections that may not be used again. */
  sweep(): void {
    for (const connection of this.free) if (!connection.isUsable()) connection.destroy();
  }

  abort(group: AbortGroup): void {
    const isMeant = ({ request }: Exchange): boolean => request.group === group;
    for (const exchange of this.waiting) if (isMeant(exchange)) exchange.abort();
    for (const connection of this.connections) connection.abortIf(isMeant);
  }

  /** Fails what waits, ends what is in flight, closes all connections; resolves when they are closed. */
  close(error: Error): Promise<void> {
    this.closed = error;
    for (const exchange of this.waiting) exchange.fail(error);
    this.waiting.clear();
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

  private serve(exchange: Exchange, connection: Connection): void {
    this.waiting.delete(exchange);
    connection.begin(exchange);
  }

  private openMissing(): void {
    for (const exchange of this.waiting) {
      if (this.connections.size + this.opening.size >= this.options.maxConnections) return;
      if (!this.opening.has(exchange)) this.open(exchange);
    }
  }

  private open(exchange: Exchange): void {
    this.opening.add(exchange);
    const connection = new Connection(this, this.options);
    const { protocol, hostname, port } = this.target;
    this.options.connect({ protocol, hostname, port, onread: connection.onread() }, (error, socket) => {
      this.opening.delete(exchange);
      if (socket === null) this.onOpenFailed(exchange, error);
      else this.onOpened(connection, socket);
    });
  }

  private onOpened(connection: Connection, socket: Socket): void {
    this.connections.add(connection);
    connection.attach(socket);
    if (this.closed !== undefined) {
      connection.destroy();
      return;
    }
    // Nothing can have come that it was not asked for: no need to wait for the turn.
    const [oldest] = this.waiting;
    if (oldest === undefined) this.free.push(connection);
    else this.serve(oldest, connection);
  }

  private onOpenFailed(exchange: Exchange, error: Error | null): void {
    if (this.waiting.delete(exchange)) exchange.fail(error ?? new Error('no connection'));
    if (this.waiting.size > 0) this.options.turn.add(this);
    this.tellUse();
  }

  private tellUse(): void {
    const busy = this.waiting.size > 0 || this.connections.size > this.free.length;
    if (busy === this.busy || this.closed !== undefined) return;
    this.busy = busy;
    if (busy) this.owner.onBusy(this);
    else this.owner.onIdle(this);
  }
}
