import { createCipheriv, createHmac } from 'node:crypto';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { createSecureContext, type TlsOptions, TLSSocket } from 'node:tls';

/** Speaks to a client with the keys of a connection, past the library, which has no function for most of what TLS allows. */
export interface Speaker {
  /** A response, or a part of one. */
  say(text: string): void;
  /** Changes the server's key this many times; each takes 27 bytes (RFC 8446, 4.6.3). */
  updateKeys(times: number): void;
}

export interface SpeakingServer {
  readonly port: number;
  readonly connections: readonly Socket[];
  stop(): Promise<void>;
}

const APPLICATION_DATA = 23;
const HANDSHAKE = 22;
const KEY_UPDATE = Buffer.from([24, 0, 0, 1, 0]);
const TAG_BYTES = 16;
/** Session tickets of the library are on their way for a moment after the handshake. */
const SETTLED_MS = 20;

/** Calls back with each request, of which it expects one per packet, and its number. */
export function startSpeakingServer(
  certificate: TlsOptions,
  answer: (speaker: Speaker, requestNumber: number) => void,
): Promise<SpeakingServer> {
  const secureContext = createSecureContext({
    ...certificate,
    ciphers: 'TLS_AES_128_GCM_SHA256',
    minVersion: 'TLSv1.3',
  });
  const connections: Socket[] = [];
  let requests = 0;
  const server = createServer((socket) => {
    connections.push(socket.on('error', () => undefined));
    const { wire, sentRecords } = wireOf(socket);
    const tls = new TLSSocket(wire, { isServer: true, secureContext });
    const secret = trafficSecretOf(tls);
    let records: Records | undefined;
    tls
      .on('error', () => undefined)
      .on('data', () => {
        requests += 1;
        const requestNumber = requests;
        setTimeout(() => {
          records ??= new Records(socket, secret(), sentRecords());
          answer(records, requestNumber);
        }, SETTLED_MS);
      });
  });
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => {
        resolve();
      });
      for (const socket of connections) socket.destroy();
    });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve({ port: (server.address() as AddressInfo).port, connections, stop });
    });
  });
}

/** What the TLS of a server reads and writes; counts the records that it sends after its handshake. */
function wireOf(socket: Socket) {
  let flights = 0;
  let records = 0;
  const wire = new Duplex({
    read: () => undefined,
    write: (bytes: Buffer, _encoding, done) => {
      // Not before the client has finished its handshake, which is its second flight.
      for (let at = 0; flights > 1 && at + 5 <= bytes.length; at += 5 + bytes.readUInt16BE(at + 3)) records += 1;
      socket.write(bytes, done);
    },
  });
  socket.on('data', (bytes: Buffer) => {
    flights += 1;
    wire.push(bytes);
  });
  socket.once('close', () => wire.destroy());
  return { wire, sentRecords: () => records };
}

function trafficSecretOf(tls: TLSSocket): () => Buffer {
  let secret = Buffer.alloc(0);
  tls.on('keylog', (line: Buffer) => {
    const found = /^SERVER_TRAFFIC_SECRET_0 \S+ (\S+)/.exec(line.toString('latin1'))?.[1];
    if (found !== undefined) secret = Buffer.from(found, 'hex');
  });
  return () => secret;
}

/** Encrypts as RFC 8446, 5.2 and 7.3 say, with AES-128-GCM and SHA-256. */
class Records implements Speaker {
  constructor(
    private readonly socket: Socket,
    private secret: Buffer,
    private sequenceNumber: number,
  ) {}

  say(text: string): void {
    this.socket.write(this.sealed(Buffer.from(text, 'latin1'), APPLICATION_DATA));
  }

  updateKeys(times: number): void {
    const updates: Buffer[] = [];
    for (let count = 0; count < times; count += 1) {
      updates.push(this.sealed(KEY_UPDATE, HANDSHAKE));
      this.secret = expanded(this.secret, 'traffic upd', 32);
      this.sequenceNumber = 0;
    }
    this.socket.write(Buffer.concat(updates));
  }

  private sealed(content: Buffer, type: number): Buffer {
    const nonce = expanded(this.secret, 'iv', 12);
    nonce.writeUInt32BE((nonce.readUInt32BE(8) ^ this.sequenceNumber) >>> 0, 8);
    this.sequenceNumber += 1;
    const head = Buffer.from([APPLICATION_DATA, 3, 3, 0, 0]);
    head.writeUInt16BE(content.length + 1 + TAG_BYTES, 3);
    const cipher = createCipheriv('aes-128-gcm', expanded(this.secret, 'key', 16), nonce).setAAD(head);
    return Buffer.concat([
      head,
      cipher.update(content),
      cipher.update(Buffer.from([type])),
      cipher.final(),
      cipher.getAuthTag(),
    ]);
  }
}

function expanded(secret: Buffer, purpose: string, length: number): Buffer {
  const label = Buffer.from(`tls13 ${purpose}`);
  const info = Buffer.concat([Buffer.from([0, length, label.length]), label, Buffer.from([0, 1])]);
  return createHmac('sha256', secret).update(info).digest().subarray(0, length);
}
