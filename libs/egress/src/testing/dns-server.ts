import { createSocket, type RemoteInfo } from 'node:dgram';
import ipaddr from 'ipaddr.js';

export type DnsAnswer =
  | { readonly type: 'addresses'; readonly addresses: readonly string[]; readonly alias?: string }
  | { readonly type: 'no such name' }
  | { readonly type: 'failure' }
  | { readonly type: 'silence' }
  | { readonly type: 'garbage' };

export interface DnsQuestion {
  readonly name: string;
  readonly family: 4 | 6;
  /** 1 for the first question of this name and family. */
  readonly number: number;
}

/** A name server on a loopback UDP port that answers A and AAAA queries as the test decides. */
export interface DnsServer {
  /** In the format of `setServers`. */
  readonly address: string;
  readonly questions: readonly DnsQuestion[];
  stop(): Promise<void>;
}

/** `addresses` may hold both families: each question gets its own. */
export function startDnsServer(answer: (question: DnsQuestion) => DnsAnswer | Promise<DnsAnswer>): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const questions: DnsQuestion[] = [];

  async function onMessage(message: Buffer, from: RemoteInfo): Promise<void> {
    const { name, family, end } = readQuestion(message);
    const asked = questions.filter((question) => question.name === name && question.family === family).length;
    const question = { name, family, number: asked + 1 };
    questions.push(question);
    const reply = encode(message.subarray(0, end), question, await answer(question));
    if (reply !== undefined) socket.send(reply, from.port, from.address, () => undefined);
  }

  socket.on('message', (message, from) => void onMessage(message, from));
  return new Promise((resolve) => {
    socket.bind(0, '127.0.0.1', () => {
      resolve({
        address: `127.0.0.1:${String(socket.address().port)}`,
        questions,
        stop: () =>
          new Promise((stopped) => {
            socket.close(() => {
              stopped();
            });
          }),
      });
    });
  });
}

const HEADER_LENGTH = 12;
const QUESTION_TAIL_LENGTH = 4;
const TYPE = { A: 1, CNAME: 5, AAAA: 28 } as const;

function readQuestion(message: Buffer): { name: string; family: 4 | 6; end: number } {
  const labels: string[] = [];
  let at = HEADER_LENGTH;
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const family = message.readUInt16BE(at + 1) === TYPE.AAAA ? 6 : 4;
  return { name: labels.join('.').toLowerCase(), family, end: at + 1 + QUESTION_TAIL_LENGTH };
}

function encode(questionPart: Buffer, question: DnsQuestion, answer: DnsAnswer): Buffer | undefined {
  switch (answer.type) {
    case 'silence':
      return undefined;
    case 'garbage':
      return Buffer.concat([questionPart.subarray(0, 2), Buffer.from([0x81, 0x80, 0xff, 0xff, 0xff])]);
    case 'failure':
      return withHeader(questionPart, 2, []);
    case 'no such name':
      return withHeader(questionPart, 3, []);
    case 'addresses':
      return withHeader(questionPart, 0, recordsOf(question, answer));
  }
}

function withHeader(questionPart: Buffer, responseCode: number, records: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(HEADER_LENGTH);
  questionPart.copy(header, 0, 0, 2);
  // A response, recursion desired and available.
  header.writeUInt16BE(0x8180 | responseCode, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  return Buffer.concat([header, questionPart.subarray(HEADER_LENGTH), ...records]);
}

function recordsOf(question: DnsQuestion, answer: DnsAnswer & { type: 'addresses' }): Buffer[] {
  const owner = encodeName(answer.alias ?? question.name);
  const addresses = answer.addresses
    .map((text) => ipaddr.parse(text))
    .filter((address) => (address.kind() === 'ipv4') === (question.family === 4))
    .map((address) => record(owner, question.family === 4 ? TYPE.A : TYPE.AAAA, Buffer.from(address.toByteArray())));
  return answer.alias === undefined ? addresses : [record(encodeName(question.name), TYPE.CNAME, owner), ...addresses];
}

function record(owner: Buffer, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  // Bytes 4 to 7, the time to live, stay 0.
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([owner, fixed, data]);
}

function encodeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}
