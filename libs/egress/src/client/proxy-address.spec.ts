import { afterEach, describe, expect, it } from '@jest/globals';
import type { Lookup } from '../address/dns-lookup.js';
import { type ConnectProxy, startConnectProxy } from '../testing/connect-proxy.js';
import { closedAfterEach } from '../testing/opened.js';
import type { Answer } from '../testing/raw-server.js';
import { createProxyAddress } from './proxy-address.js';

const OK: Answer = (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');

const proxies: ConnectProxy[] = [];
afterEach(() => Promise.all(proxies.splice(0).map((proxy) => proxy.stop())));
const { build, serve } = closedAfterEach();

/** A name server for the proxy, whose answers a test sets: an address, a failure, or none at all. */
function proxyNamed(host = 'proxy.example') {
  let passedMs = 86_400_000;
  let answer: { address: string } | Error | 'silence' = { address: '10.0.0.1' };
  let questions = 0;
  const lookup: Lookup = () => {
    questions += 1;
    if (answer === 'silence') return new Promise(() => undefined);
    if (answer instanceof Error) return Promise.reject(answer);
    return Promise.resolve([
      { ...answer, family: 4 },
      { address: 'fd00::1', family: 6 },
    ]);
  };
  return {
    address: createProxyAddress(host, lookup, () => passedMs),
    questions: () => questions,
    answer: (next: typeof answer) => {
      answer = next;
    },
    passMs: (ms: number) => {
      passedMs += ms;
    },
  };
}

describe('the address of a proxy', () => {
  it('is asked for once when many connections need it together (R-26)', async () => {
    const proxy = await startConnectProxy();
    proxies.push(proxy);
    const server = await serve((...request) => setTimeout(OK, 50, ...request));
    const asked: string[] = [];
    const lookup: Lookup = (host) => {
      asked.push(host);
      const address = host === 'proxy.example' ? '127.0.0.1' : '93.184.215.14';
      return Promise.resolve([{ address, family: 4 }]);
    };
    const proxyUrl = `http://proxy.example:${String(proxy.port)}`;
    const post = build({ lookup, proxyUrl, monotonicMs: () => 0 });

    const url = `http://hooks.example:${String(server.port)}/`;
    const results = await Promise.all(Array.from({ length: 50 }, () => post(url, { deadlineMs: 15_000 })));

    for (const result of results) expect(result).toMatchObject({ statusCode: 200 });
    expect(server.connections.length).toBeGreaterThan(1);
    expect(asked.filter((host) => host === 'proxy.example')).toHaveLength(1);
  });

  it('is asked for again after 5 s, so that a proxy that has moved is found', async () => {
    const { address, answer, passMs, questions } = proxyNamed();
    expect(await address()).toBe('10.0.0.1');
    answer({ address: '10.0.0.2' });
    passMs(4_999);
    expect(await address()).toBe('10.0.0.1');
    passMs(1);
    expect(await address()).toBe('10.0.0.2');
    expect(questions()).toBe(2);
  });

  it('stays while a question for it fails, which is asked again after 5 s', async () => {
    const { address, answer, passMs, questions } = proxyNamed();
    await address();
    answer(new Error('no answer'));
    passMs(5_000);
    expect(await address()).toBe('10.0.0.1');
    passMs(4_999);
    expect(await address()).toBe('10.0.0.1');
    expect(questions()).toBe(2);

    answer({ address: '10.0.0.2' });
    passMs(1);
    expect(await address()).toBe('10.0.0.2');
  });

  it('that was never known is asked for once a second', async () => {
    const { address, answer, passMs, questions } = proxyNamed();
    answer(new Error('no answer'));
    expect([await address(), await address()]).toEqual([undefined, undefined]);
    expect(questions()).toBe(1);
    answer({ address: '10.0.0.1' });
    passMs(1_000);
    expect(await address()).toBe('10.0.0.1');
  });

  it('is asked for again, though a question was never answered', async () => {
    const { address, answer, passMs } = proxyNamed();
    answer('silence');
    void address();
    answer({ address: '10.0.0.1' });
    passMs(5_000);
    expect(await address()).toBe('10.0.0.1');
  });

  it('is not asked for when it is the proxy as it was configured', async () => {
    const { address, questions } = proxyNamed('10.0.0.9');
    expect(await address()).toBe('10.0.0.9');
    expect(questions()).toBe(0);
  });
});
