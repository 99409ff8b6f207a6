import { describe, expect, it } from '@jest/globals';
import type { Request } from 'express';
import type { EndpointOptions, PortalUse } from '../endpoint/endpoint.decorator.js';
import type { ApiError } from '../errors/api-error.js';
import { startTestApi } from '../testing/test-api.js';
import type { Caller } from './caller.js';
import { requirePortalAccess } from './portal-access.js';

const OWN = '0b0e8f0a-6f4e-4c53-9a54-7d4b5b0d9a11';
const OTHER = '1c1e8f0a-6f4e-4c53-9a54-7d4b5b0d9a11';

function callerWith(type: Caller['type'], subscriptionIds: Caller['subscriptionIds']): Caller {
  return { type, keyId: 'k', fleetId: 'acme', scopes: [], subscriptionIds, expiresAt: null };
}
const limited = callerWith('portal_session', [OWN]);
const unlimited = callerWith('portal_session', null);
const apiKey = callerWith('api_key', null);

/** The status that the request is refused with, or null. */
function refusalOf(portal: PortalUse | undefined, caller: Caller, id?: string): number | null {
  const endpoint = { portal } as EndpointOptions;
  const request = { params: id === undefined ? {} : { id } } as unknown as Request;
  try {
    requirePortalAccess(endpoint, caller, request);
    return null;
  } catch (error) {
    return (error as ApiError).getStatus();
  }
}

describe('what a portal session may do with an endpoint (R-42)', () => {
  it.each<[PortalUse | undefined, Caller, string | undefined, number | null]>([
    [undefined, limited, OWN, 403],
    [undefined, unlimited, OWN, 403],
    ['refused', limited, OWN, 403],
    ['refused', unlimited, OWN, 403],
    ['whole_fleet', limited, OWN, 403],
    ['whole_fleet', unlimited, OTHER, null],
    ['named_subscription', limited, OWN, null],
    ['named_subscription', limited, OWN.toUpperCase(), null],
    ['named_subscription', limited, OTHER, 404],
    ['named_subscription', limited, undefined, 404],
    ['named_subscription', unlimited, OTHER, null],
    ['filtered', limited, undefined, null],
    ['refused', apiKey, OTHER, null],
    [undefined, apiKey, OTHER, null],
  ])('that declares %s', (portal, caller, id, expected) => {
    expect(refusalOf(portal, caller, id)).toBe(expected);
  });

  it('is declared by each endpoint: one that declares nothing is refused', async () => {
    const api = await startTestApi();
    await api.close();
    const silent = Object.entries(api.document.paths).flatMap(([path, item]) =>
      Object.entries(item)
        .filter(([, operation]) => operation.security?.length !== 0 && operation['x-portal-session'] === undefined)
        .map(([method]) => `${method.toUpperCase()} ${path}: give its @Endpoint a "portal"`),
    );
    expect(silent).toEqual([]);
  });
});
