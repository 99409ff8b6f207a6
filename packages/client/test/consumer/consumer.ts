// What an integrator writes, with the package installed: packed-client.int.spec.ts compiles and runs it.
import {
  createWaypostClient,
  type LegacyWebhookEvent,
  type Subscription,
  verify,
  WaypostApiError,
  type WebhookEvent,
} from '@waypost/client';

declare const process: { readonly argv: readonly string[]; readonly env: Readonly<Record<string, string | undefined>> };
declare const console: { log: (text: string) => void };

const { API_URL = '', API_KEY = '', DELIVERY = '{}' } = process.env;
const waypost = createWaypostClient({ baseUrl: API_URL, apiKey: API_KEY, retry: { baseDelayMs: 10 } });

function placeOf(event: WebhookEvent): string {
  switch (event.eventType) {
    case 'geofence_in':
    case 'geofence_out':
      return event.eventData.geofenceName;
    case 'route_finished':
      return String(event.eventData.endLocation.latitude);
    default:
      // @ts-expect-error: only events of geofences have one.
      return String(event.eventData.geofenceName ?? event.eventData.latitude);
  }
}

function legacyPlaceOf(event: LegacyWebhookEvent): string {
  return event.event === 'geofence_in' ? event.geofence_name : String(event.lat);
}

async function deliveries(): Promise<string[]> {
  const found: string[] = [];
  for await (const event of waypost.items('listEvents', {
    startDate: new Date(0),
    limit: 2,
    eventType: ['position'],
  })) {
    found.push(event.eventId);
  }
  return found;
}

async function refusal(): Promise<object> {
  try {
    return await waypost.listEvents({ limit: 0 });
  } catch (error) {
    if (!(error instanceof WaypostApiError)) throw error;
    const { status, code, details, attempts } = error;
    return { status, code, parameter: details[0]?.parameter, attempts };
  }
}

async function compiledOnly(): Promise<Subscription> {
  // @ts-expect-error: an id is required.
  await waypost.getSubscription();
  // @ts-expect-error: a status is one of those that are known.
  await waypost.updateSubscription({ id: 'x', body: { status: 'asleep' } });
  // @ts-expect-error: not a list.
  for await (const fleet of waypost.items('getFleet')) console.log(JSON.stringify(fleet));
  const { data } = await waypost.createSubscriptions({
    body: { url: 'https://example.com', eventTypes: ['position'] },
  });
  console.log(data[0]?.secret ?? '');
  return waypost.updateSubscription({ id: 'x', body: { status: 'paused' } }, { ifMatch: '"3"' });
}

const { body, headers, secret, nowMs } = JSON.parse(DELIVERY) as {
  body: string;
  headers: Record<string, string>;
  secret: string;
  nowMs: number;
};
const verified = await verify(body, headers, secret, { now: new Date(nowMs) });
let place = verified.ok ? '' : verified.reason;
if (verified.ok && verified.format === 'v1') place = placeOf(verified.event);
if (verified.ok && verified.format === 'legacy-v1') place = legacyPlaceOf(verified.event);
const isNeverTrue = process.argv.length > 99;
if (isNeverTrue) await compiledOnly();
console.log(JSON.stringify({ place, deliveries: await deliveries(), refusal: await refusal() }));
