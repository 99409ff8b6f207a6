import { beforeAll, describe, expect, it } from '@jest/globals';
import Ajv2020Module from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { decideAttempt, DELIVERY_EVENT_TYPES } from '@waypost/domain';
import { createBodyCheck } from '../../../../test/support/published-schemas.js';
import { startTestApi } from '../testing/test-api.js';
import type { OpenApiDocument } from './openapi.types.js';

interface Union {
  readonly oneOf: readonly { readonly $ref: string }[];
  readonly discriminator: { readonly propertyName: string; readonly mapping: Readonly<Record<string, string>> };
}

let document: OpenApiDocument;
let complaintsOf: (component: string, value: unknown) => string;
beforeAll(async () => {
  const api = await startTestApi();
  ({ document } = api);
  await api.close();
  const ajv = new Ajv2020Module.default({ strict: false, allErrors: true });
  addFormatsModule.default(ajv);
  ajv.addSchema(document, 'openapi.json');
  complaintsOf = (component, value) => {
    const validate = ajv.compile({ $ref: `openapi.json#/components/schemas/${component}` });
    return validate(value) ? '' : ajv.errorsText(validate.errors);
  };
});

function examples(): Readonly<Record<string, { readonly value: Readonly<Record<string, unknown>> }>> {
  const { requestBody } = document.webhooks['delivery']?.post ?? {};
  return (requestBody as { content: { 'application/json': { examples: never } } }).content['application/json'].examples;
}

describe('the webhooks of the OpenAPI document (R-43)', () => {
  it.each([
    ['WebhookEvent', 'eventType'],
    ['LegacyWebhookEvent', 'event'],
  ])('distinguish every type of %s by %s', (name, propertyName) => {
    const { oneOf, discriminator } = document.components.schemas[name] as unknown as Union;
    expect(discriminator.propertyName).toBe(propertyName);
    expect(Object.keys(discriminator.mapping)).toEqual(DELIVERY_EVENT_TYPES);
    expect(Object.values(discriminator.mapping)).toEqual(oneOf.map(({ $ref }) => $ref));
  });

  it.each(DELIVERY_EVENT_TYPES)(
    'have examples of %s in both formats, which the document and the published schemas accept',
    (type) => {
      const checkBody = createBodyCheck();
      const [v1, legacy] = [examples()[type]?.value, examples()[`legacy_${type}`]?.value];
      expect([v1?.['eventType'], legacy?.['event']]).toEqual([type, type]);
      expect([complaintsOf('WebhookEvent', v1), complaintsOf('LegacyWebhookEvent', legacy)]).toEqual(['', '']);
      expect([v1, legacy].flatMap((value) => checkBody(JSON.stringify(value)))).toEqual([]);
    },
  );

  it('call no status refused for good after which a delivery is sent again', () => {
    const { responses = {} } = document.webhooks['delivery']?.post ?? {};
    const described = (status: number) => responses[String(status)] ?? responses[`${String(status).slice(0, 1)}XX`];
    for (let status = 400; status < 600; status += 1) {
      for (const auth of ['none', 'bearer'] as const) {
        const finished = { attempt: 1, result: { type: 'response', statusCode: status } as const, auth };
        const decision = decideAttempt({ ...finished, unauthorizedBefore: false, endedAt: 0, random: 0 });
        if (decision.outcome === 'retrying')
          expect(described(status)).toMatchObject({ description: expect.stringMatching(/(?<!not )retried/i) });
      }
    }
  });

  it('refuse a body without what its type always has', () => {
    const body = { ...examples()['geofence_in']?.value, eventData: { deviceId: 'd', fleetId: 'f' } };
    expect(complaintsOf('WebhookEvent', body)).not.toBe('');
    expect(complaintsOf('WebhookEvent', { ...examples()['position']?.value, eventType: 'geofence_in' })).not.toBe('');
  });

  it('accept fields and values that a newer service adds', () => {
    const { value } = examples()['position'] ?? {};
    expect(complaintsOf('WebhookEvent', { ...value, version: 2 })).toBe('');
    const route = examples()['route_finished']?.value;
    const eventData = { ...(route?.['eventData'] as object), endReason: 'towed' };
    expect(complaintsOf('WebhookEvent', { ...route, eventData })).toBe('');
  });

  it('tell that enumerations may grow', () => {
    expect((document.info as { description: string }).description).toContain('may gain values');
  });
});
