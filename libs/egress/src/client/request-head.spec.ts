import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createHeadWriter, createTargetReader, HeaderRefusedError } from './request-head.js';

function write(headers: Record<string, string>, bodyBytes = 7) {
  return createHeadWriter()(headers, bodyBytes);
}

describe('the head of a request', () => {
  it('has the headers as given, the length of the body, and the empty line', () => {
    expect(write({ 'webhook-id': 'evt', 'X-Other': 'a b' })).toBe(
      'webhook-id: evt\r\nX-Other: a b\r\nuser-agent: Waypost\r\ncontent-length: 7\r\n\r\n',
    );
  });

  it('sends the user agent that the caller sets', () => {
    expect(write({ 'user-agent': 'Other/1' })).toBe('user-agent: Other/1\r\ncontent-length: 7\r\n\r\n');
  });

  it('ignores the headers that the client sets itself', () => {
    expect(write({ host: 'a', 'Content-Length': '9', 'accept-encoding': 'gzip' })).toBe(
      'user-agent: Waypost\r\ncontent-length: 7\r\n\r\n',
    );
  });

  it.each(['connection', 'Transfer-Encoding', 'expect', 'upgrade', 'keep-alive', '', 'a b', 'a:', 'a\r\nb', 'é'])(
    'refuses the name %p, each time',
    (name) => {
      const writeHead = createHeadWriter();
      for (const _time of [1, 2]) expect(writeHead({ [name]: 'x' }, 7)).toBeInstanceOf(HeaderRefusedError);
    },
  );

  it('never contains an injected line, whatever a value contains', () => {
    const unit = fc.oneof(fc.constantFrom('\r', '\n', '\0', ':', ' ', 'a'), fc.string({ minLength: 1, maxLength: 1 }));
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 12 }), (value) => {
        const head = write({ 'x-value': value });
        const shown = head instanceof HeaderRefusedError ? head.message : head;

        expect(shown.split('\r\n')).toEqual(
          head instanceof HeaderRefusedError
            ? ['the value of the header "x-value" cannot be sent']
            : [`x-value: ${value}`, 'user-agent: Waypost', 'content-length: 7', '', ''],
        );
      }),
    );
  });

  it('refuses values that latin1 cannot carry, without repeating them', () => {
    const head = write({ authorization: 'Bearer s€cret' });

    expect(head).toEqual(new HeaderRefusedError('the value of the header "authorization" cannot be sent'));
  });
});

const RULES = { allowHttp: false };

describe('the target of a request', () => {
  it('is where the URL leads, in its normalized form', () => {
    expect(createTargetReader(RULES, 10)('https://HOOKS.Example.:8443/a/../b?c=d')).toEqual({
      type: 'target',
      origin: 'https://hooks.example:8443',
      protocol: 'https:',
      hostname: 'hooks.example',
      port: '8443',
      headStart:
        'POST /b?c=d HTTP/1.1\r\nhost: hooks.example:8443\r\n' +
        'connection: keep-alive\r\naccept-encoding: identity\r\n',
    });
  });

  it('has no brackets around the address to connect to, but keeps them in the host header', () => {
    expect(createTargetReader(RULES, 10)('https://[2a00::1]/')).toMatchObject({
      hostname: '2a00::1',
      port: '',
      headStart: expect.stringContaining('\r\nhost: [2a00::1]\r\n'),
    });
  });

  it('is parsed once per URL in use, however many others there are', () => {
    const targetOf = createTargetReader(RULES, 8);
    const first = targetOf('https://hooks.example/');
    for (let other = 0; other < 100; other += 1) {
      targetOf(`https://hooks.example/${String(other)}`);
      expect(targetOf('https://hooks.example/')).toBe(first);
    }
  });

  it('is forgotten when it is not in use', () => {
    const targetOf = createTargetReader(RULES, 8);
    const first = targetOf('https://hooks.example/');
    for (let other = 0; other < 8; other += 1) targetOf(`https://hooks.example/${String(other)}`);

    expect(targetOf('https://hooks.example/')).not.toBe(first);
    expect(targetOf('https://hooks.example/')).toEqual(first);
  });

  it('is refused for a URL that may not be called', () => {
    const targetOf = createTargetReader(RULES, 8);

    for (const _time of [1, 2]) expect(targetOf('http://hooks.example/')).toMatchObject({ type: 'refused' });
  });
});
