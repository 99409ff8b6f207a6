import { describe, expect, it } from '@jest/globals';
import type { Lookup } from '../address/lookup.js';
import { checkSubscriberUrl, MAX_URL_LENGTH, parseSubscriberUrl } from './subscriber-url.js';

const publicLookup: Lookup = () => Promise.resolve([{ address: '93.184.215.14', family: 4 }]);

function reasonOf(text: string, allowHttp = false): string {
  const result = parseSubscriberUrl(text, { allowHttp });
  return result.type === 'refused' ? result.reason : result.type;
}

describe('parseSubscriberUrl (R-18)', () => {
  it.each([
    ['https://example.com', 'https://example.com/'],
    ['https://example.com:8443/hooks?fleet=1', 'https://example.com:8443/hooks?fleet=1'],
    ['HTTPS://Example.COM/A', 'https://example.com/A'],
    ['https://bücher.example/x', 'https://xn--bcher-kva.example/x'],
    ['https://[2606:2800:220:1::1]/x', 'https://[2606:2800:220:1::1]/x'],
    ['https://8.8.8.8/', 'https://8.8.8.8/'],
  ])('accepts %p', (text, href) => {
    const result = parseSubscriberUrl(text, { allowHttp: false });

    expect(result.type === 'accepted' && result.url.href).toBe(href);
  });

  it.each([
    ['http://example.com', 'scheme'],
    ['ftp://example.com', 'scheme'],
    ['file:///etc/passwd', 'scheme'],
    ['javascript:alert(1)', 'scheme'],
    ['https://user@example.com', 'user_info'],
    ['https://user:password@example.com', 'user_info'],
    ['https://:password@example.com', 'user_info'],
    ['https://example.com/#top', 'fragment'],
    ['https://example.com/#', 'fragment'],
    ['https://example.com:0/', 'port'],
    ['https://example.com:65536/', 'invalid'],
    ['https://[fe80::1%25eth0]/', 'invalid'],
    ['https://[::1/', 'invalid'],
    ['https://', 'invalid'],
    ['//example.com', 'invalid'],
    ['example.com', 'invalid'],
    ['', 'invalid'],
    [' https://example.com', 'invalid'],
    ['https://exam\tple.com', 'invalid'],
    ['https://example.com/a b', 'invalid'],
    ['https:\\\\example.com', 'invalid'],
    ['https://256.1.1.1/', 'invalid'],
    [`https://example.com/${'a'.repeat(MAX_URL_LENGTH)}`, 'too_long'],
  ])('refuses %p: %p', (text, reason) => {
    expect(reasonOf(text)).toBe(reason);
  });

  it('accepts http only with the development switch, and still nothing else', () => {
    expect(reasonOf('http://127.0.0.1:9000/', true)).toBe('accepted');
    expect(reasonOf('ftp://127.0.0.1/', true)).toBe('scheme');
  });
});

describe('checkSubscriberUrl (R-18)', () => {
  const check = (url: string, lookup: Lookup = publicLookup, allowedSubnets: string[] = []) =>
    checkSubscriberUrl(url, { allowHttp: false, allowedSubnets, lookup, lookupTimeoutMs: 50 });

  it('accepts a host with nothing but public addresses', async () => {
    expect(await check('https://hooks.example.com/x')).toMatchObject({ type: 'accepted' });
  });

  it.each([
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://0177.0.0.1/',
    'https://0/',
    'https://[::1]/',
    'https://[::ffff:7f00:1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://１２７.0.0.1/',
  ])('refuses the inner address %p in whatever notation, without a lookup', async (url) => {
    const noLookup: Lookup = () => Promise.reject(new Error('a literal address must not be looked up'));

    expect(await check(url, noLookup)).toMatchObject({ type: 'refused', reason: 'address_refused' });
  });

  it('refuses a host when any one of its addresses is not public, and says which', async () => {
    const mixed: Lookup = () =>
      Promise.resolve([
        { address: '93.184.215.14', family: 4 },
        { address: 'fd00:ec2::254', family: 6 },
      ]);

    const result = await check('https://hooks.example.com/', mixed);

    expect(result).toEqual({
      type: 'refused',
      reason: 'address_refused',
      message: 'The URL must lead to a public address: hooks.example.com is at fd00:ec2::254 (private).',
    });
  });

  it('refuses a host that does not resolve, has no address or does not answer in time', async () => {
    const notFound: Lookup = () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' }));
    const silent: Lookup = () => new Promise(() => undefined);

    for (const lookup of [notFound, silent, () => Promise.resolve([])]) {
      expect(await check('https://no-such-host.example/', lookup)).toMatchObject({
        type: 'refused',
        reason: 'unresolvable',
      });
    }
  });

  it('accepts an inner address in an allowed subnet', async () => {
    const result = await checkSubscriberUrl('http://127.0.0.1:9000/', {
      allowHttp: true,
      allowedSubnets: ['127.0.0.0/8'],
    });

    expect(result.type).toBe('accepted');
  });
});
