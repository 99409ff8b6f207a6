import { connect, type Socket } from 'node:net';
import { EVENT_DIGITS, EVENT_MARK } from '../sink/origin.js';
import { type EventLoad, startEventLoad } from './event-load.js';
import { type EventWriter, openEventWriter, type WriterOptions } from './event-writer.js';
import type { LoadPlan, LoadRequestMessage, LoadResult } from './messages.js';

/** Events of earlier runs may still be under way: no number is given twice on one stack. */
const EVENTS_PER_SECOND_AT_MOST = 100_000;
const NUMBER_LIMIT = 1e12;

export function createLoadGenerator(now: () => number) {
  let nextEvent = Math.floor((now() / 1_000) * EVENTS_PER_SECOND_AT_MOST) % NUMBER_LIMIT;
  let options: WriterOptions | undefined;
  let writer: EventWriter | undefined;
  /** Of a plan with a topic of its own: kafkajs goes on asking for a topic, and fails, when that is deleted. */
  let ownWriter: EventWriter | undefined;
  let load: EventLoad | undefined;

  async function connect(to: WriterOptions): Promise<void> {
    options = to;
    writer = await openEventWriter(to);
  }

  async function start(plan: LoadPlan): Promise<void> {
    if (options === undefined || writer === undefined) throw new Error('Not connected.');
    ownWriter = plan.topic === undefined ? undefined : await openEventWriter(options);
    load = startEventLoad(ownWriter ?? writer, plan, { firstEvent: nextEvent, now });
  }

  async function finish(stop: boolean, file: string): Promise<LoadResult> {
    if (load === undefined) throw new Error('Nothing was started.');
    const finished = load;
    if (stop) finished.stop();
    const result = await finished.done;
    await ownWriter?.close();
    nextEvent += finished.sent.rows;
    finished.sent.save(file);
    return result;
  }

  return {
    handle(message: LoadRequestMessage): unknown {
      switch (message.type) {
        case 'connect':
          return connect(message);
        case 'start':
          return start(message.plan);
        case 'retarget':
          load?.retarget(message.change);
          return null;
        case 'finish':
          return finish(message.stop, message.file);
        case 'answered':
          load?.answered(message.answered200);
          return null;
        case 'posts':
          return rawPosts(message.ports, message.connections, message.seconds);
      }
    },
  };
}

const BODY_BYTES = 1_000;

/** POSTs as quickly as the sink takes them, one after another on each connection. @returns POSTs a second */
async function rawPosts(ports: readonly number[], connections: number, seconds: number): Promise<number> {
  let answered = 0;
  const sockets = await Promise.all(
    Array.from({ length: connections }, (_, index) => open(ports[index % ports.length] ?? 0)),
  );
  const startedMs = performance.now();
  for (const [index, socket] of sockets.entries()) {
    const request = postRequest(index % ports.length);
    // The answers of the sink are too small to come in parts.
    socket.on('data', () => {
      answered += 1;
      socket.write(request);
    });
    socket.write(request);
  }
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  const perSecond = answered / ((performance.now() - startedMs) / 1_000);
  for (const socket of sockets) socket.destroy();
  return perSecond;
}

function postRequest(endpoint: number): Buffer {
  const body = `{"deviceId":"${EVENT_MARK}${'0'.repeat(EVENT_DIGITS)}","padding":"`.padEnd(BODY_BYTES, 'x');
  const head = [
    `POST /hook/${String(endpoint)} HTTP/1.1`,
    'host: 127.0.0.1',
    'webhook-id: 00000000-0000-0000-0000-000000000000',
    `webhook-signature: v1,${'0'.repeat(44)}`,
    `x-service-signature: t=0,v1=${'0'.repeat(64)}`,
    'x-service-attempt: 1',
    'content-type: application/json',
    `content-length: ${String(Buffer.byteLength(body))}`,
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => {
      resolve(socket);
    });
    socket.on('error', reject);
  });
}
