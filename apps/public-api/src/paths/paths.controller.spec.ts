import { afterEach, describe, expect, it } from '@jest/globals';
import { MAX_ID_LENGTH, MAX_PAGE_BYTES, type PathPoint, RETENTION_MS } from '@waypost/domain';
import { createMemoryPathStore } from '@waypost/history-store/testing';
import { refusalOf, startTestApi, type TestAnswer, type TestApi, type TestApiOptions } from '../testing/test-api.js';

const PATH = '/public/v1/paths';
const NOW = Date.UTC(2026, 2, 20, 12);
const WINDOW = 'startDate=2026-03-01T00:00:00Z&endDate=2026-04-01T00:00:00Z';

let api: TestApi | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
});

function pointOf(fields: Partial<PathPoint> = {}): PathPoint {
  return {
    fleetId: 'acme',
    deviceId: 'van-1',
    eventTime: NOW - 60_000,
    latitude: 52.52,
    longitude: 13.405,
    speedInKmh: null,
    heading: null,
    ignition: null,
    odometerInMeters: null,
    rpm: null,
    fuelLevel: null,
    valid: true,
    ...fields,
  };
}

/** The API on a store with these points, and a way to add more. */
async function build(points: readonly PathPoint[] = [], options: TestApiOptions = {}) {
  const store = createMemoryPathStore({ now: () => NOW });
  let position: number | null = null;
  async function add(more: readonly PathPoint[]): Promise<void> {
    const nextOffset: number = (position ?? 0) + 1;
    await store.projection.apply({ topic: 't', partition: 0, expectedOffset: position, nextOffset, points: more });
    position = nextOffset;
  }
  await add(points);
  api = await startTestApi({ now: () => NOW, paths: store.history, ...options });
  return { ...api, add };
}

interface Page {
  readonly data: { device_id: string; points: { time: string }[] }[];
  readonly next_page_state: string | null;
}
function pageOf(answer: TestAnswer): Page {
  return answer.body as Page;
}
/** `device minutes-ago` of each point, in the order of the answer. */
function placesOf(answer: TestAnswer): string[] {
  return pageOf(answer).data.flatMap(({ device_id: device, points }) =>
    points.map(({ time }) => `${device} ${String((NOW - Date.parse(time)) / 60_000)}`),
  );
}
function minutesAgo(deviceId: string, ...minutes: number[]): PathPoint[] {
  return minutes.map((minute) => pointOf({ deviceId, eventTime: NOW - minute * 60_000 }));
}
/** So many characters of ids, each the letter again and again. */
function listOf(length: number, letter = 'x'): string {
  return Array.from({ length }, (_, n) => (n % 101 === 100 && n < length - 1 ? ',' : letter)).join('');
}

describe('GET /public/v1/paths', () => {
  it('never has more bytes on a page than a page may have: 2,000 points of the longest kind have less (R-34a)', async () => {
    const longest: Partial<PathPoint> = {
      latitude: -12.345678901234567,
      longitude: -123.45678901234567,
      speedInKmh: 123.45678901234567,
      heading: 123.45678901234567,
      fuelLevel: 12.345678901234567,
      ignition: false,
      valid: false,
      odometerInMeters: Number.MAX_SAFE_INTEGER,
      rpm: 2_147_483_647,
    };
    const points = Array.from({ length: 2_001 }, (_, index) =>
      pointOf({ ...longest, deviceId: `${String(index)}${'\uffee'.repeat(MAX_ID_LENGTH)}`.slice(0, MAX_ID_LENGTH) }),
    );
    const { request } = await build(points);
    const { body } = await request(`${PATH}?${WINDOW}&limit=2000`);
    expect((body as Page).data).toHaveLength(2_000);
    expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(MAX_PAGE_BYTES);
  });

  it('shows a full and a bare point with the names of R-36 and nothing more', async () => {
    const full = pointOf({
      speedInKmh: 0,
      heading: 271.5,
      ignition: false,
      odometerInMeters: 123_456_789,
      rpm: 900,
      fuelLevel: 0,
    });
    const bare = pointOf({ eventTime: NOW - 30_000, latitude: null, longitude: null, valid: false });
    const { request } = await build([bare, full]);

    const answer = await request(`${PATH}?${WINDOW}`);

    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      data: [
        {
          device_id: 'van-1',
          points: [
            {
              time: '2026-03-20T11:59:00.000Z',
              latitude: 52.52,
              longitude: 13.405,
              speed_in_kmh: 0,
              heading: 271.5,
              ignition: false,
              odometer_in_meters: 123_456_789,
              rpm: 900,
              fuel_level: 0,
              valid: true,
            },
            { time: '2026-03-20T11:59:30.000Z', valid: false },
          ],
        },
      ],
      next_page_state: null,
    });
  });

  it('shows what was reported as 0, which is not the same as nothing', async () => {
    const zeros = { latitude: 0, longitude: 0, speedInKmh: 0, heading: 0, odometerInMeters: 0, rpm: 0, fuelLevel: 0 };
    const { request } = await build([pointOf({ ...zeros, ignition: false, valid: false })]);
    const { data } = pageOf(await request(`${PATH}?${WINDOW}`));
    expect(data[0]?.points[0]).toEqual({
      time: '2026-03-20T11:59:00.000Z',
      ...{ latitude: 0, longitude: 0, speed_in_kmh: 0, heading: 0, odometer_in_meters: 0, rpm: 0, fuel_level: 0 },
      ignition: false,
      valid: false,
    });
  });

  it('shows device by device, the points of each in the order of their time', async () => {
    const { request } = await build([
      ...minutesAgo('van-2', 3, 1, 2),
      ...minutesAgo('van-1', 1, 3),
      ...minutesAgo('van-10', 2),
    ]);
    expect(placesOf(await request(`${PATH}?${WINDOW}`))).toEqual([
      'van-1 3',
      'van-1 1',
      'van-10 2',
      'van-2 3',
      'van-2 2',
      'van-2 1',
    ]);
  });

  it('has nothing of other fleets, and is empty for a fleet without pings', async () => {
    const { request, addKey } = await build([pointOf({ fleetId: 'other' })]);
    expect((await request(`${PATH}?${WINDOW}`)).body).toEqual({ data: [], next_page_state: null });
    expect(placesOf(await request(`${PATH}?${WINDOW}`, { key: addKey('other') }))).toEqual(['van-1 1']);
  });

  it('shows the devices that are asked for', async () => {
    const points = ['a', 'b b', 'c&é', 'd'].flatMap((device) => minutesAgo(device, 1));
    const { request } = await build(points);
    const found = async (ids: string) => placesOf(await request(`${PATH}?${WINDOW}&deviceIds=${ids}`));

    expect(await found('d,a,a,nobody')).toEqual(['a 1', 'd 1']);
    expect(await found('d%2Ca')).toEqual(['a 1', 'd 1']);
    expect(await found(`${encodeURIComponent('c&é')},b+b`)).toEqual(['b b 1', 'c&é 1']);
  });

  it('takes the start of the window in and leaves its end out', async () => {
    const { request } = await build(minutesAgo('van-1', 3, 2, 1));
    const window = `startDate=2026-03-20T11:57:00Z&endDate=2026-03-20T11:59:00Z`;
    expect(placesOf(await request(`${PATH}?${window}`))).toEqual(['van-1 3', 'van-1 2']);
  });

  it('shows nothing older than the retention for any window', async () => {
    const times = [-1, 0, 1].map((ms) => NOW - RETENTION_MS + ms);
    const { request } = await build(times.map((eventTime) => pointOf({ eventTime })));
    const { data } = pageOf(await request(`${PATH}?startDate=2020-01-01T00:00:00Z&endDate=2026-04-01T00:00:00Z`));
    expect(data[0]?.points.map(({ time }) => Date.parse(time))).toEqual(times.slice(1));
    const before = await request(`${PATH}?startDate=2020-01-01T00:00:00Z&endDate=2021-01-01T00:00:00Z`);
    expect(before.body).toEqual({ data: [], next_page_state: null });
  });

  it('counts points for the limit, 100 by default', async () => {
    const points = ['a', 'b'].flatMap((device) => minutesAgo(device, ...Array.from({ length: 75 }, (_, n) => n + 1)));
    const { request } = await build(points);
    const sizes = async (query: string) =>
      pageOf(await request(`${PATH}?${query}`)).data.map(({ points: of }) => of.length);
    expect(await sizes(WINDOW)).toEqual([75, 25]);
    expect(await sizes(`${WINDOW}&limit=2000`)).toEqual([75, 75]);
    expect(await sizes(`${WINDOW}&limit=1`)).toEqual([1]);
  });

  it.each([
    ['endDate=2026-03-01T00:00:00Z', 'startDate'],
    ['startDate=2026-03-01T00:00:00Z', 'endDate'],
    ['startDate=2026-03-01&endDate=2026-03-02T00:00:00Z', 'startDate'],
    ['startDate=2026-03-02T00:00:00Z&endDate=2026-03-02T00:00:00Z', 'endDate'],
    [`${WINDOW}&deviceIds=`, 'deviceIds'],
    [`${WINDOW}&deviceIds=a,,b`, 'deviceIds'],
    [`${WINDOW}&deviceIds=a%00`, 'deviceIds'],
    [`${WINDOW}&deviceIds=a&deviceIds=b`, 'deviceIds'],
    [`${WINDOW}&deviceIds=${'x'.repeat(257)}`, 'deviceIds'],
    [`${WINDOW}&deviceIds=${Array.from({ length: 201 }, (_, n) => n).join(',')}`, 'deviceIds'],
    [`${WINDOW}&deviceIds=${listOf(6_001)}`, 'deviceIds'],
    // Counted as it stands in the URL: decoded it is a third of that.
    [`${WINDOW}&deviceIds=${listOf(2_100, '%41')}`, 'deviceIds'],
    [`${WINDOW}&limit=0`, 'limit'],
    [`${WINDOW}&limit=2001`, 'limit'],
    [`${WINDOW}&pageState=`, 'pageState'],
    [`${WINDOW}&deviceId=a`, 'deviceId'],
  ])('answers 400 to %j and names the parameter', async (query, parameter) => {
    const { request } = await build();
    const answer = await request(`${PATH}?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: { code: 'invalid_parameter', details: [{ parameter }] } });
  });

  it('requires the scope paths:read', async () => {
    const { request, addKey } = await build();
    const status = async (key: string | null) => (await request(`${PATH}?${WINDOW}`, { key })).status;
    expect(await status(addKey('acme', ['paths:read']))).toBe(200);
    expect(await status(addKey('acme', ['events:read']))).toBe(403);
    expect(await status(null)).toBe(401);
  });
});

describe('a walk over paths (R-34)', () => {
  const DEVICES = ['a', 'b', 'c'];
  const points = DEVICES.flatMap((device) => minutesAgo(device, 10, 20, 30, 40, 50));

  async function walk(query: string, limit: number, between: () => Promise<void> = () => Promise.resolve()) {
    const pages: string[][] = [];
    for (let pageState: string | null = ''; pageState !== null;) {
      const paging: string = pageState === '' ? '' : `&pageState=${pageState}`;
      const answer: TestAnswer | undefined = await api?.request(`${PATH}?${query}&limit=${String(limit)}${paging}`);
      if (answer?.status !== 200) throw new Error(`page ${String(pages.length + 1)} was refused`);
      pages.push(placesOf(answer));
      pageState = pageOf(answer).next_page_state;
      await between();
    }
    return pages;
  }

  it.each([1, 2, 4, 5, 7, 15, 16])(
    'shows every point once with %d per page, also where a device continues',
    async (limit) => {
      const { request } = await build(points);
      const whole = placesOf(await request(`${PATH}?${WINDOW}`));
      const pages = await walk(WINDOW, limit);
      expect(pages.flat()).toEqual(whole);
      expect(pages).toHaveLength(Math.ceil(15 / limit));
    },
  );

  it('shows every point that existed at its start exactly once while others come, late ones too', async () => {
    const { request, add } = await build(points);
    const before = placesOf(await request(`${PATH}?${WINDOW}`));
    let turn = 0;
    const pages = await walk(WINDOW, 2, async () => {
      turn += 1;
      await add(DEVICES.flatMap((device) => minutesAgo(device, turn * 7, 10)));
    });
    const seen = pages.flat();
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining(before));
  });

  it('shows all devices from the moment on that the first page began at, although it passes the retention', async () => {
    let nowMs = NOW;
    const old = DEVICES.flatMap((deviceId) =>
      [-1_000, 1_000].map((ms) => pointOf({ deviceId, eventTime: NOW - RETENTION_MS + ms })),
    );
    await build(old, { now: () => nowMs });
    const pages = await walk(WINDOW, 1, () => {
      nowMs += 60_000;
      return Promise.resolve();
    });
    expect(pages.flat().map((place) => place.split(' ')[0])).toEqual(DEVICES);
  });

  it.each([
    ['a long id', 'x'],
    ['an id that is longer in the URL', encodeURIComponent('車')],
  ])('can be continued when its first page was answered: %s', async (_what, letter) => {
    const longest = letter.repeat(MAX_ID_LENGTH);
    const list = `${longest},${listOf(6_000 - longest.length - 1)}`;
    expect(list).toHaveLength(6_000);
    // The token of the next page names the device.
    await build(minutesAgo(decodeURIComponent(longest), 1, 2, 3));
    const window =
      'startDate=2026-03-01T00%3A00%3A00.000000000%2B00%3A00&endDate=2026-04-01T00%3A00%3A00.000000000%2B00%3A00';
    const pages = await walk(`${window}&deviceIds=${list}`, 1);
    expect(pages).toHaveLength(3);
  });

  it('accepts its devices in any order, but no other query, fleet or resource', async () => {
    const started = await build(points);
    const first = await started.request(`${PATH}?${WINDOW}&deviceIds=a,b&limit=3`);
    const token = String(pageOf(first).next_page_state);
    const answerTo = (query: string, key?: string) =>
      started.request(`${query}&pageState=${token}`, key === undefined ? {} : { key });
    const refusal = async (query: string, key?: string) => {
      const answer = await answerTo(query, key);
      return [answer.status, refusalOf(answer).code];
    };

    const going = await answerTo(`${PATH}?deviceIds=b,a,b&${WINDOW}&limit=2`);
    expect(placesOf(going)).toEqual(['a 20', 'a 10']);
    expect(await refusal(`${PATH}?${WINDOW}&deviceIds=a`)).toEqual([400, 'page_state_other_query']);
    expect(await refusal(`${PATH}?${WINDOW}`)).toEqual([400, 'page_state_other_query']);
    expect(await refusal(`${PATH}?${WINDOW}&deviceIds=a,b`, started.addKey('other'))).toEqual([
      400,
      'page_state_other_fleet',
    ]);
    expect(await refusal(`/public/v2/events?${WINDOW}`)).toEqual([400, 'page_state_other_query']);
  });
});
