import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createBodyCheck } from './published-schemas.js';

export interface ReceivedCall {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The bytes as they came; signatures are over them. */
  readonly body: Buffer;
  readonly eventId: string | undefined;
  /** 1 for the first call with this event on this path, then 2, ... */
  readonly nth: number;
  readonly receivedAt: number;
}

export type Answer =
  | {
      readonly type: 'respond';
      readonly status: number;
      readonly headers?: Record<string, string>;
      readonly body?: string;
      readonly delayMs?: number;
    }
  /** Ends the connection without an answer. */
  | { readonly type: 'reset' }
  /** Never answers. */
  | { readonly type: 'hang' };

export type Behavior = (call: ReceivedCall) => Answer;

/** A subscriber's server on the loopback interface, which records every call; `behave` sets its answers. */
export interface Receiver {
  readonly calls: readonly ReceivedCall[];
  url(path: string): string;
  callsTo(path: string): readonly ReceivedCall[];
  behave(behavior: Behavior): void;
  /** @throws when a body was not as its published schema says, which no subscriber should ever see */
  close(): Promise<void>;
}

export interface ReceiverOptions {
  /** 'any': the test makes up bodies of its own. */
  readonly bodies?: 'published' | 'any';
}

export const ok: Behavior = () => ({ type: 'respond', status: 200 });

export async function startReceiver(
  initial: Behavior = ok,
  { bodies = 'published' }: ReceiverOptions = {},
): Promise<Receiver> {
  const complaintsOf = bodies === 'any' ? () => [] : createBodyCheck();
  const calls: ReceivedCall[] = [];
  const seen = new Map<string, number>();
  let behavior = initial;

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const call = record(request, Buffer.concat(chunks));
    const answer = behavior(call);
    if (answer.type === 'hang') return;
    if (answer.type === 'reset') {
      request.socket.resetAndDestroy();
      return;
    }
    if (answer.delayMs !== undefined) await sleep(answer.delayMs);
    response.writeHead(answer.status, answer.headers).end(answer.body);
  }

  function record(request: IncomingMessage, body: Buffer): ReceivedCall {
    const path = request.url ?? '';
    const eventId = eventIdIn(body);
    const key = `${path} ${eventId ?? ''}`;
    const nth = (seen.get(key) ?? 0) + 1;
    seen.set(key, nth);
    const call: ReceivedCall = { path, headers: request.headers, body, eventId, nth, receivedAt: Date.now() };
    calls.push(call);
    return call;
  }

  const server = createServer((request, response) => {
    // A sender that is killed in the middle of a call is part of the tests.
    receive(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    calls,
    url: (path) => `http://127.0.0.1:${String(port)}${path}`,
    callsTo: (path) => calls.filter((call) => call.path === path),
    behave: (next) => {
      behavior = next;
    },
    close: async () => {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      // Not as they come: Node takes one new connection in a turn of its loop, so turns have to be short. What has no id is a
      // request for a token.
      const webhooks = calls.filter(({ headers }) => headers['webhook-id'] !== undefined);
      const complaints = webhooks.flatMap(({ body }) => complaintsOf(body.toString()));
      if (complaints.length > 0) throw new Error(`Bodies that break their schema: ${complaints.join('; ')}`);
    },
  };
}

/** Both body formats name the event, under different names. */
function eventIdIn(body: Buffer): string | undefined {
  try {
    const { eventId, event_id } = JSON.parse(body.toString()) as {
      readonly eventId?: string;
      readonly event_id?: string;
    };
    return eventId ?? event_id;
  } catch {
    return undefined;
  }
}
