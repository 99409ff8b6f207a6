import { describe, expect, it } from '@jest/globals';
import { createTargetReader } from './request-target.js';

const RULES = { allowHttp: false };

describe('the target of a request', () => {
  it('is where the URL leads, in its normalised form', () => {
    expect(createTargetReader(RULES, 10)('https://HOOKS.Example.:8443/a/../b?c=d')).toEqual({
      type: 'target',
      origin: 'https://hooks.example:8443',
      protocol: 'https:',
      hostname: 'hooks.example',
      port: '8443',
      headBegin:
        'POST /b?c=d HTTP/1.1\r\nhost: hooks.example:8443\r\n' +
        'connection: keep-alive\r\naccept-encoding: identity\r\n',
    });
  });

  it('has no brackets around the address that is connected to, and keeps them for the other side', () => {
    expect(createTargetReader(RULES, 10)('https://[2a00::1]/')).toMatchObject({
      hostname: '2a00::1',
      port: '',
      headBegin: expect.stringContaining('\r\nhost: [2a00::1]\r\n'),
    });
  });

  it('is read once for each text that is in use, however many others there are', () => {
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
