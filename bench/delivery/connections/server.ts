import { constants } from 'node:crypto';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { serveRequests } from '../../shared/processes/serve-requests.js';
import { RequestReader } from '../sink/origin.js';
import type { Certificate } from '../stack/receivers.js';

/** The ports of a process that answers every POST with 200. */
export interface ServerPorts {
  readonly http: number;
  readonly https: number;
  /** Never resumes a TLS session: each connection is a full handshake. */
  readonly httpsInFull: number;
}

const OK = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
const BACKLOG = 1_024;

serveRequests(async (request): Promise<ServerPorts> => {
  const certificate = request as Certificate;
  const inFull: TlsOptions = { ...certificate, secureOptions: constants.SSL_OP_NO_TICKET };
  const [http, https, httpsInFull] = await Promise.all([
    listening(createServer({ noDelay: true }, answer)),
    listening(createTlsServer({ ...certificate, noDelay: true }, answer)),
    listening(createTlsServer({ ...inFull, noDelay: true }, answer)),
  ]);
  return { http, https, httpsInFull };
});

function answer(socket: Socket): void {
  const reader = new RequestReader();
  socket.on('error', () => socket.destroy());
  socket.on('data', (bytes: Buffer) => {
    reader.read(bytes, () => socket.write(OK));
  });
}

function listening(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: 0, host: '127.0.0.1', backlog: BACKLOG }, () => {
      resolve((server.address() as AddressInfo).port);
    });
  });
}
