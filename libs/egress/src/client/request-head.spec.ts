import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createHeadWriter, HeaderRefusedError } from './request-head.js';

const write = (headers: Record<string, string>, bodyBytes = 7) => createHeadWriter()(headers, bodyBytes);

describe('the head of a request', () => {
  it('has the headers as given, the length of the body, and the empty line', () => {
    expect(write({ 'webhook-id': 'evt', 'X-Other': 'a b' })).toBe(
      'webhook-id: evt\r\nX-Other: a b\r\nuser-agent: Waypost\r\ncontent-length: 7\r\n\r\n',
    );
  });

  it('names the caller as the caller wants', () => {
    expect(write({ 'user-agent': 'Other/1' })).toBe('user-agent: Other/1\r\ncontent-length: 7\r\n\r\n');
  });

  it("leaves out what is the client's own", () => {
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

  it('never has a line that nobody gave, whatever a value holds', () => {
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
