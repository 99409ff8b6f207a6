import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type AttemptRig,
  rigAuth,
  rigCertificate,
  rigSubscription,
  startAttemptRig,
} from '../../../../test/support/attempt-rig.js';
import { makeAuthority } from '../../../../test/support/certificates.js';

const authority = makeAuthority();
const ofServer = authority.issue({ subjectAltName: 'IP:127.0.0.1' });
const [old, renewed] = ['old', 'new'].map((commonName) =>
  authority.issue({ subjectAltName: 'DNS:waypost.example', commonName }),
);

let rig: AttemptRig;
let server: Server;
/** Whose certificate came with each request. */
let seen: string[];

beforeEach(async () => {
  rig = await startAttemptRig(undefined, authority.cert);
  seen = [];
  const demand = { ...ofServer, ca: authority.cert, requestCert: true, rejectUnauthorized: true };
  server = createServer(demand, (request, response) => {
    seen.push(String((request.socket as TLSSocket).getPeerCertificate().subject.CN));
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  await rig.close();
  await new Promise((resolve) => server.close(resolve));
});

function hook(): string {
  return `https://127.0.0.1:${String((server.address() as AddressInfo).port)}/hook`;
}

function put(version: number, certificate = old, sealedFor = 'sub-1') {
  const clientCertificate = certificate === undefined ? null : rigCertificate(sealedFor, certificate);
  rig.put(rigSubscription('sub-1', { url: hook(), version, clientCertificate }));
}

describe('the client certificate of a subscription (R-19)', () => {
  it('is shown to a receiver that demands one, in each attempt', async () => {
    put(1);
    for (const attempt of [1, 2]) {
      expect(await rig.run('sub-1', { attempt })).toMatchObject({ result: { type: 'response', statusCode: 200 } });
    }
    expect(seen).toEqual(['old', 'old']);
  });

  it('is that of the newest version: replaced, then removed', async () => {
    put(1);
    await rig.run('sub-1');
    put(2, renewed);
    await rig.run('sub-1');
    rig.put(rigSubscription('sub-1', { url: hook(), version: 3 }));
    expect(await rig.run('sub-1')).toMatchObject({ result: { type: 'error', errorCode: 'tls_error' } });
    expect(seen).toEqual(['old', 'new']);
  });

  it('is not done without when its key cannot be opened: nothing is sent, and that is said (R-17)', async () => {
    put(1, old, 'another subscription');
    expect(await rig.run('sub-1')).toMatchObject({
      result: {
        type: 'error',
        errorCode: 'secret_unreadable',
        detail: expect.stringContaining('client certificate') as unknown,
      },
    });
    expect(seen).toEqual([]);
  });

  it('is not shown to the token server', async () => {
    put(1);
    const auth = rigAuth('sub-1', hook().replace('/hook', '/token'));
    const clientCertificate = old === undefined ? null : rigCertificate('sub-1', old);
    rig.put(rigSubscription('sub-1', { url: hook(), version: 2, auth, clientCertificate }));
    expect(await rig.run('sub-1')).toMatchObject({ result: { type: 'error', errorCode: 'token_error' } });
    expect(seen).toEqual([]);
  });

  it('is not used for an http URL', async () => {
    const clientCertificate = old === undefined ? null : rigCertificate('sub-1', old);
    rig.put(rigSubscription('sub-1', { url: rig.receiver.url('/hook'), clientCertificate }));
    expect(await rig.run('sub-1')).toMatchObject({ result: { type: 'response', statusCode: 200 } });
    expect(rig.receiver.callsTo('/hook')).toHaveLength(1);
  });
});
