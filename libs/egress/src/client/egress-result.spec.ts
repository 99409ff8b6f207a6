import { describe, expect, it } from '@jest/globals';
import { errorCodeOf, errorDetailOf } from './egress-result.js';

/** As Node makes them: the message names both ends of the connection. */
function systemError(syscall: string, code: string, message: string): Error {
  return Object.assign(new Error(message), { syscall, code, errno: -113, address: '10.1.2.3', port: 443 });
}

describe('the detail of a failed post', () => {
  it.each<[string, Error, string, string]>([
    [
      'no route',
      systemError('connect', 'EHOSTUNREACH', 'connect EHOSTUNREACH 10.1.2.3:443 - Local (10.1.2.4:0)'),
      'connection_failed',
      'connect EHOSTUNREACH',
    ],
    [
      'nothing that listens',
      systemError('connect', 'ECONNREFUSED', 'connect ECONNREFUSED 10.1.2.3:443'),
      'connection_refused',
      'connect ECONNREFUSED',
    ],
    [
      'several addresses that fail',
      Object.assign(new AggregateError([new Error('connect ETIMEDOUT 10.1.2.3:443')], 'tried 10.1.2.3'), {
        code: 'ETIMEDOUT',
      }),
      'timeout',
      'ETIMEDOUT',
    ],
    [
      'a certificate for other names',
      Object.assign(new Error("IP: 10.1.2.3 is not in the cert's list: 10.1.2.4"), {
        code: 'ERR_TLS_CERT_ALTNAME_INVALID',
      }),
      'tls_error',
      'the certificate is for other names',
    ],
  ])('names no address for %s (R-27)', (_case, error, errorCode, detail) => {
    expect([errorCodeOf(error), errorDetailOf(error)]).toEqual([errorCode, detail]);
  });

  it.each(['ERROR_IN_CERT_NOT_AFTER_FIELD', 'ERROR_IN_CRL_NEXT_UPDATE_FIELD', 'OUT_OF_MEM', 'UNSPECIFIED'])(
    'is the message of a certificate that is refused as %s, which is a TLS failure',
    (code) => {
      const error = Object.assign(new Error('what OpenSSL says'), { code });
      expect([errorCodeOf(error), errorDetailOf(error)]).toEqual(['tls_error', 'what OpenSSL says']);
    },
  );

  it.each(['EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL', 'EHOSTDOWN', 'ENETDOWN'])(
    'names the reason when there is no way to the host (%s), which is a failure to connect',
    (code) => {
      const error = systemError('connect', code, `connect ${code} 10.1.2.3:443`);
      expect([errorCodeOf(error), errorDetailOf(error)]).toEqual(['connection_failed', `connect ${code}`]);
    },
  );

  it('is the message of any other error, in at most 300 characters', () => {
    expect(errorDetailOf(new Error('x'.repeat(400)))).toBe('x'.repeat(300));
  });
});
