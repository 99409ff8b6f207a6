import { createSocket } from 'node:dgram';

/** The only name server of the measured applications (see use-name-server.ts): every name leads to this machine. */
export interface NameServer {
  /** In the format of `setServers`. */
  readonly address: string;
  /** Whether it leaves queries without an answer. */
  isSilent: boolean;
  close(): void;
}

export function startNameServer(): Promise<NameServer> {
  const socket = createSocket('udp4');
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(0, '127.0.0.1', () => {
      const server: NameServer = {
        address: `127.0.0.1:${String(socket.address().port)}`,
        isSilent: false,
        close: () => {
          socket.close();
        },
      };
      socket.on('message', (query, { port, address }) => {
        if (!server.isSilent) socket.send(responseTo(query), port, address);
      });
      resolve(server);
    });
  });
}

const HEADER_BYTES = 12;
const TYPE_A = 1;
/** A pointer to the name in the question, type A, class IN, a TTL of 0, four bytes: 127.0.0.1. */
const RECORD = Buffer.from([0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1]);

/** RFC 1035, section 4.1. Only queries for IPv4 addresses have an answer. */
function responseTo(query: Buffer): Buffer {
  const typeAt = query.indexOf(0, HEADER_BYTES) + 1;
  const question = query.subarray(HEADER_BYTES, typeAt + 4);
  const hasAnswer = query.readUInt16BE(typeAt) === TYPE_A;
  const header = Buffer.alloc(HEADER_BYTES);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(hasAnswer ? 1 : 0, 6);
  return Buffer.concat([header, question, ...(hasAnswer ? [RECORD] : [])]);
}
