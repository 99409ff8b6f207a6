import { toError } from '../../errors.js';
import { ResponseBufferPool } from './response-buffer-pool.js';

/** What has to be changed inside of kafkajs 2.2.4 itself. Each is applied once a process and holds for every client in it. */

export interface RequestQueue {
  pending: unknown[];
  scheduleCheckPendingRequests(): void;
}

export interface Connection {
  connect(): Promise<unknown>;
}

export interface ReceivingConnection {
  /** Set while kafkajs authenticates: then the bytes are read its way. */
  readonly authHandlers: unknown;
  readonly socket: { destroy(error: Error): void };
  readonly requestQueue: {
    fulfillRequest(response: { size: number; correlationId: number; payload: Buffer }): void;
  };
  processData(chunk: Buffer): void;
}

const PATCHED = Symbol.for('waypost.streams.patched');

type Patchable<T> = T & { [PATCHED]?: true };

/** kafkajs re-arms a timer of some milliseconds on every connection for ever; only a queue that holds something needs it. */
export const patchIdleTimer = (prototype: Patchable<RequestQueue>): void => {
  if (prototype[PATCHED]) return;
  const { value: original } = Object.getOwnPropertyDescriptor(prototype, 'scheduleCheckPendingRequests') as {
    value: (this: RequestQueue) => void;
  };
  prototype.scheduleCheckPendingRequests = function scheduleOnlyWhenPending(this: RequestQueue): void {
    if (this.pending.length > 0) original.call(this);
  };
  prototype[PATCHED] = true;
};

/**
 * Requests that find their connection closed each open it again. kafkajs would make a socket for each of them, use the
 * last one and leave the others open: here they share one attempt.
 */
export const patchSharedConnect = (prototype: Patchable<Connection>): void => {
  if (prototype[PATCHED]) return;
  const { value: original } = Object.getOwnPropertyDescriptor(prototype, 'connect') as {
    value: (this: Connection) => Promise<unknown>;
  };
  const attempts = new WeakMap<Connection, Promise<unknown>>();
  prototype.connect = function connectOnce(this: Connection): Promise<unknown> {
    let attempt = attempts.get(this);
    if (!attempt) {
      attempt = original.call(this).finally(() => attempts.delete(this));
      attempts.set(this, attempt);
    }
    return attempt;
  };
  prototype[PATCHED] = true;
};

interface EndingSocket {
  end(...args: unknown[]): unknown;
  removeAllListeners(event: string): unknown;
  resume(): unknown;
}

/** kafkajs goes on listening to a socket that it has ended: late bytes of it must not meet the next connection. */
export const silenceEndedSockets =
  <Options, Socket extends EndingSocket>(socketFactory: (options: Options) => Socket) =>
  (options: Options): Socket => {
    const socket = socketFactory(options);
    const end = socket.end.bind(socket);
    socket.end = (...args: unknown[]) => {
      socket.removeAllListeners('data');
      socket.resume();
      return end(...args);
    };
    return socket;
  };

/** Said when the first bytes of an answer are those of a TLS alert, instead of making room for 350 MB. */
export const SPEAKS_TLS = 'The port speaks TLS.';
const TLS_ALERT = 21;
const TLS_MAJOR = 3;
const SIZE_BYTES = 4;
/** Far above what is asked for; a port that is not Kafka's may say anything. */
const MAX_RESPONSE_BYTES = 512 * 1024 * 1024;

/**
 * kafkajs keeps the chunks of a response until it is whole and copies them together then, and it would go on with half a
 * response after the connection was made anew. Here a response is put together as it comes, in memory of its size.
 */
export const patchReceive = (prototype: Patchable<ReceivingConnection>): void => {
  if (Object.hasOwn(prototype, RECEIVE_PATCHED)) return;
  const { value: original } = Object.getOwnPropertyDescriptor(prototype, 'processData') as {
    value: (this: ReceivingConnection, chunk: Buffer) => void;
  };
  const assemblies = new WeakMap<object, ResponseAssembly>();
  const memory = new ResponseBufferPool();
  prototype.processData = function receive(this: ReceivingConnection, chunk: Buffer): void {
    if (this.authHandlers) {
      original.call(this, chunk);
      return;
    }
    let assembly = assemblies.get(this.socket);
    if (!assembly) assemblies.set(this.socket, (assembly = new ResponseAssembly(memory)));
    try {
      assembly.take(chunk, (response) => {
        this.requestQueue.fulfillRequest({
          size: response.length,
          correlationId: response.readInt32BE(0),
          payload: response.subarray(SIZE_BYTES),
        });
      });
    } catch (error) {
      this.socket.destroy(toError(error));
    }
  };
  Object.defineProperty(prototype, RECEIVE_PATCHED, { value: true });
};

const RECEIVE_PATCHED = Symbol.for('waypost.streams.receive-patched');

/** The responses of one socket: four bytes of size, then as many bytes. */
class ResponseAssembly {
  private readonly size = Buffer.alloc(SIZE_BYTES);
  private sizeFilled = 0;
  private response: Buffer | null = null;
  private filled = 0;

  constructor(private readonly memory: ResponseBufferPool) {}

  take(chunk: Buffer, deliver: (response: Buffer) => void): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.response) {
        at += this.fill(this.response, chunk, at, deliver);
        continue;
      }
      const copied = chunk.copy(this.size, this.sizeFilled, at);
      this.sizeFilled += copied;
      at += copied;
      if (this.sizeFilled < SIZE_BYTES) return;
      this.sizeFilled = 0;
      if (this.size[0] === TLS_ALERT && this.size[1] === TLS_MAJOR) throw new RangeError(SPEAKS_TLS);
      const size = this.size.readInt32BE(0);
      if (size < SIZE_BYTES || size > MAX_RESPONSE_BYTES)
        throw new RangeError('This is no broker: the size of its response is senseless.');
      // Whole in this chunk, as most are: no copy.
      if (chunk.length - at >= size) deliver(chunk.subarray(at, (at += size)));
      else this.response = this.memory.take(size);
    }
  }

  /** @returns how many bytes of the chunk were taken */
  private fill(response: Buffer, chunk: Buffer, at: number, deliver: (response: Buffer) => void): number {
    const copied = chunk.copy(response, this.filled, at);
    this.filled += copied;
    if (this.filled === response.length) {
      this.response = null;
      this.filled = 0;
      deliver(response);
    }
    return copied;
  }
}
