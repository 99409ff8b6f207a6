import { describe, expect, it } from '@jest/globals';
import type { V2Event } from '@waypost/client';
import { DELIVERY_HEADERS } from '@waypost/contracts';
import { isFleetId } from '@waypost/domain';
import { sentHeaders } from '../../apps/console/src/deliveries/sent-headers.js';
import { fleetOf } from '../../apps/console/src/session/base-path.js';

/** Browsers load no library of the applications, so the console repeats a few rules. */
describe('the console', () => {
  it.each(['a', '7', 'a.B-c_1', '-a', '.a', 'a b', 'x'.repeat(128), 'x'.repeat(129)])(
    'takes for a fleet what may be the id of one: %s',
    (id) => {
      expect(fleetOf(`/fleets/${id}/overview`) === id).toBe(isFleetId(id));
    },
  );

  it('shows the headers that are published, but for the tracestate, which the history does not have (R-19)', () => {
    const item = { eventId: 'e-1', subscriptionId: 's-1' } as V2Event;
    const attempt = { attempt: 2, startedAt: '2026-05-04T08:00:01Z', dueAt: '2026-05-04T08:00:01Z', durationMs: 5 };
    const auth = { type: 'bearer', tokenUrl: 'https://id.example', clientId: 'w', tokenAuthMethod: 'x' } as const;
    const names = sentHeaders(item, attempt, auth)
      .split('\n')
      .map((line) => line.slice(0, line.indexOf(':')));
    const shown = names.filter((name) => name !== 'content-type');
    expect([...shown, 'tracestate'].toSorted()).toEqual(Object.keys(DELIVERY_HEADERS).toSorted());
  });
});
