import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Lookup } from '../address/dns-lookup.js';
import { checkSubscriberUrl, hostOf, MAX_SUBSCRIBER_URL_BYTES, parseSubscriberUrl } from './subscriber-url.js';

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
    [`https://example.com/${'a'.repeat(MAX_SUBSCRIBER_URL_BYTES)}`, 'too_long'],
    [`https://example.com/${'ä'.repeat(1_020)}`, 'too_long'],
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

  it('accepts a host with public addresses only', async () => {
    expect(await check('https://hooks.example.com/x')).toMatchObject({ type: 'accepted' });
  });

  it('refuses a host that the operator denies', async () => {
    const rules = { allowHttp: false, allowedSubnets: [], denied: ['hooks.example'], lookup: publicLookup };

    expect(await checkSubscriberUrl('https://hooks.example/x', rules)).toMatchObject({
      type: 'refused',
      reason: 'address_refused',
    });
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
      message: 'The URL must lead to a public address: hooks.example.com is not at a public address (private).',
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

  it('accepts an internal address in an allowed subnet', async () => {
    const result = await checkSubscriberUrl('http://127.0.0.1:9000/', {
      allowHttp: true,
      allowedSubnets: ['127.0.0.0/8'],
    });

    expect(result.type).toBe('accepted');
  });
});

const noLookup: Lookup = () => Promise.reject(new Error('an address must not be looked up'));

function parsed(url: string): string {
  const result = parseSubscriberUrl(url, { allowHttp: false });
  return result.type === 'accepted' ? hostOf(result.url) : result.reason;
}

describe('a host in an unusual notation', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['127.0.0.1.', '127.0.0.1'],
    ['127.1', '127.0.0.1'],
    ['127.0.1', '127.0.0.1'],
    ['2130706433', '127.0.0.1'],
    ['0x7f000001', '127.0.0.1'],
    ['0X7F000001', '127.0.0.1'],
    ['017700000001', '127.0.0.1'],
    ['0x7f.0.0.0x1', '127.0.0.1'],
    ['0177.0.0.01', '127.0.0.1'],
    ['0177.0x0.0.1', '127.0.0.1'],
    ['0', '0.0.0.0'],
    ['0x', '0.0.0.0'],
    ['0300.0250.1', '192.168.0.1'],
    ['0xa9fea9fe', '169.254.169.254'],
    ['2852039166', '169.254.169.254'],
    ['169.254.43518', '169.254.169.254'],
    ['%31%32%37.0.0.1', '127.0.0.1'],
    ['127%2e0%2e0%2e1', '127.0.0.1'],
    ['127。0。0。1', '127.0.0.1'],
    ['１２７．０．０．１', '127.0.0.1'],
    ['①②⑦.0.0.1', '127.0.0.1'],
    ['12\u00ad7.0.0.1', '127.0.0.1'],
    ['[::1]', '::1'],
    ['[0:0:0:0:0:0:0:1]', '::1'],
    ['[0000::0001]', '::1'],
    ['[::127.0.0.1]', '::7f00:1'],
    ['[::ffff:127.0.0.1]', '::ffff:7f00:1'],
    ['[0:0:0:0:0:FFFF:7F00:0001]', '::ffff:7f00:1'],
    ['[64:ff9b::10.0.0.1]', '64:ff9b::a00:1'],
    ['[2002:7f00:1::]', '2002:7f00:1::'],
  ])('%p is read as %p and refused at creation without a lookup', async (host, address) => {
    const url = `https://${host}/hook`;

    expect(parsed(url)).toBe(address);
    expect(await checkSubscriberUrl(url, { allowHttp: false, allowedSubnets: [], lookup: noLookup })).toMatchObject({
      type: 'refused',
      reason: 'address_refused',
    });
  });

  it.each([
    ['four numbers too big', '256.0.0.1'],
    ['a number too big', '4294967296'],
    ['a hexadecimal number too big', '0x100000000'],
    ['five numbers', '1.2.3.4.5'],
    ['no octal number', '1.2.3.08'],
    ['no number', '1.2.3.4x.0'],
    ['two dots', '127..1'],
    ['only a dot', '.'],
    ['an empty label', 'hooks..example'],
    ['a dot first', '.hooks.example'],
    ['two dots last', 'hooks.example..'],
    ['a zone', '[fe80::1%eth0]'],
    ['an encoded zone', '[fe80::1%25eth0]'],
    ['a zone of a public address', '[2606:2800:220:1::1%25lo]'],
    ['a hexadecimal IPv4 part', '[::ffff:0x7f.0.0.1]'],
    ['an octal IPv4 part', '[::ffff:0177.0.0.1]'],
    ['a short IPv4 part', '[::ffff:127.1]'],
    ['nine groups', '[1:2:3:4:5:6:7:8:9]'],
    ['IPv4 in brackets', '[127.0.0.1]'],
    ['bad punycode', 'xn--a.example'],
    ['a label too long', `${'a'.repeat(64)}.example`],
    ['a name too long', `${'a.'.repeat(127)}example`],
    ['a zero byte', 'hooks%00.example'],
    ['a line end', 'hooks%0d%0a.example'],
    ['an encoded slash', 'hooks.example%2f.evil.example'],
    ['an encoded at sign', 'good.example%40evil.example'],
    ['a space', 'hooks%20.example'],
  ])('with %s is refused: %p', (_case, host) => {
    expect(parsed(`https://${host}/`)).toBe('invalid');
  });

  it.each([
    ['hooks.example.', 'hooks.example'],
    ['HOOKS.Example', 'hooks.example'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['BÜCHER.example', 'xn--bcher-kva.example'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['ｈｏｏｋｓ.example', 'hooks.example'],
    ['hooks。example', 'hooks.example'],
    ['ho\u00adoks.example', 'hooks.example'],
    ['straße.example', 'xn--strae-oqa.example'],
    ['пример.example', 'xn--e1afmkfd.example'],
    ['127.0.0.1.example', '127.0.0.1.example'],
    ['my_host.example', 'my_host.example'],
  ])('%p is the name %p', (host, name) => {
    expect(parsed(`https://${host}/hook`)).toBe(name);
  });

  it('is one origin with and without the final dot', () => {
    const origins = ['https://hooks.example/x', 'https://hooks.example./x', 'https://hooks.example.:443/x'].map(
      (url) => {
        const result = parseSubscriberUrl(url, { allowHttp: false });
        return result.type === 'accepted' ? result.url.href : result.reason;
      },
    );

    expect(new Set(origins)).toEqual(new Set(['https://hooks.example/x']));
  });

  it('never hides an IPv4 address: every notation is classified as that address', () => {
    const part = (value: number, radix: number): string =>
      radix === 16 ? `0x${value.toString(16)}` : radix === 8 ? `0${value.toString(8)}` : String(value);
    const radices = fc.tuple(...Array.from({ length: 4 }, () => fc.constantFrom(8, 10, 16)));
    const bytes = fc.tuple(...Array.from({ length: 4 }, () => fc.integer({ min: 0, max: 255 })));
    fc.assert(
      fc.property(bytes, radices, fc.integer({ min: 1, max: 4 }), (values, radixes, partCount) => {
        // The last of n parts holds all the bytes that are left.
        const last = values.slice(partCount - 1).reduce((sum, byte) => sum * 256 + byte, 0);
        const host = [...values.slice(0, partCount - 1), last]
          .map((each, index) => part(each, radixes[index] ?? 10))
          .join('.');
        expect([host, parsed(`https://${host}/`)]).toEqual([host, values.join('.')]);
      }),
    );
  });
});

describe('a URL that looks like another', () => {
  it.each([
    ['https://hooks.example@127.0.0.1/', 'user_info'],
    ['https://hooks.example:443@127.0.0.1/', 'user_info'],
    ['https://hooks.example%2f@127.0.0.1/', 'user_info'],
    ['https://@hooks.example/', 'user_info'],
    ['https://:@hooks.example/', 'user_info'],
    ['https://hooks.example#@127.0.0.1/', 'fragment'],
    ['https://127.0.0.1\\@hooks.example/', 'invalid'],
    ['https://hooks.example\u2028/', 'invalid'],
    ['https:///127.0.0.1/', 'invalid'],
    ['https:hooks.example', 'invalid'],
    ['https:/hooks.example', 'invalid'],
    ['https://hooks.example?@127.0.0.1/', 'hooks.example'],
    ['https://hooks.example/@127.0.0.1/', 'hooks.example'],
  ])('%p is taken as %p', (url, expected) => {
    expect(parsed(url)).toBe(expected);
  });
});

describe('a port', () => {
  const portOf = (text: string): string => {
    const result = parseSubscriberUrl(`https://hooks.example:${text}/`, { allowHttp: false });
    return result.type === 'accepted' ? result.url.port : result.reason;
  };

  it.each([
    ['', ''],
    ['443', ''],
    ['0443', ''],
    ['1', '1'],
    ['22', '22'],
    ['8443', '8443'],
    ['65535', '65535'],
    ['0', 'port'],
    ['00', 'port'],
    ['65536', 'invalid'],
    ['-1', 'invalid'],
    ['+443', 'invalid'],
    ['4 43', 'invalid'],
    ['0x1bb', 'invalid'],
    ['４４３', 'invalid'],
    ['443:443', 'invalid'],
  ])('%p is taken as %p', (text, expected) => {
    expect(portOf(text)).toBe(expected);
  });
});
