import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { makeAuthority, makeSelfSigned } from '../../../../test/support/certificates.js';
import { closedAfterEach, lookupAnswering } from '../testing/opened.js';
import type { Answer } from '../testing/raw-server.js';

const OK: Answer = (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');

const { build, serve } = closedAfterEach();

describe('TLS', () => {
  const certificate = makeSelfSigned('DNS:hooks.example,IP:127.0.0.1');

  it('is refused when the certificate is not trusted, also when the environment switches verification off', async () => {
    const server = await serve(OK, certificate);
    const saved = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      expect(await build()(server.url)).toMatchObject({ type: 'error', errorCode: 'tls_error' });
    } finally {
      if (saved === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = saved;
    }
    expect(server.requests).toHaveLength(0);
  });

  it('sends the host name in SNI and checks the certificate against it', async () => {
    const names: string[] = [];
    const server = await serve(OK, {
      ...certificate,
      SNICallback: (name, done) => {
        names.push(name);
        done(null);
      },
    });
    const post = build({ lookup: lookupAnswering(['127.0.0.1']), trustedCa: certificate.cert });

    expect(await post(`https://hooks.example:${String(server.port)}/`)).toMatchObject({ statusCode: 200 });
    expect(await post(`https://other.example:${String(server.port)}/`)).toMatchObject({ errorCode: 'tls_error' });
    expect(names).toEqual(['hooks.example', 'other.example']);
  });

  it('works with a literal address that the certificate names', async () => {
    const server = await serve(OK, certificate);

    expect(await build({ trustedCa: certificate.cert })(server.url)).toMatchObject({ statusCode: 200 });
  });

  it.each([
    ['finite fields', { ciphers: 'DHE-RSA-AES128-GCM-SHA256', dhparam: 'auto', maxVersion: 'TLSv1.2' }],
    ['finite fields of TLS 1.3', { ecdhCurve: 'ffdhe8192', minVersion: 'TLSv1.3' }],
  ] as const)(
    'is refused when the server wants a key exchange over %s, of a size that it chooses (R-26)',
    async (_, options) => {
      const authority = makeAuthority();
      const leaf = authority.issue({ newKey: ['-newkey', 'rsa:2048'], subjectAltName: 'IP:127.0.0.1' });
      const server = await serve(OK, { ...leaf, ...options });
      const post = build({ trustedCa: authority.cert });
      expect(await post(server.url)).toMatchObject({ type: 'error', errorCode: 'tls_error' });
      expect(server.requests).toHaveLength(0);
    },
  );

  it.each([
    ['P-521', { ecdhCurve: 'P-521' }],
    ['P-256 in TLS 1.2', { ecdhCurve: 'P-256', maxVersion: 'TLSv1.2' }],
    ['RSA', { ciphers: 'AES128-GCM-SHA256', maxVersion: 'TLSv1.2' }],
  ] as const)('works with a server that wants %s', async (_, options) => {
    const authority = makeAuthority();
    const leaf = authority.issue({ newKey: ['-newkey', 'rsa:2048'], subjectAltName: 'IP:127.0.0.1' });
    const server = await serve(OK, { ...leaf, ...options });
    expect(await build({ trustedCa: authority.cert })(server.url)).toMatchObject({ statusCode: 200 });
  });

  it('says tls_error when the server answers in plain HTTP', async () => {
    const plain = createServer();
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
    const { port } = plain.address() as AddressInfo;

    expect(await build()(`https://127.0.0.1:${String(port)}/`)).toMatchObject({
      type: 'error',
      errorCode: 'tls_error',
    });
    plain.close();
  });
});
