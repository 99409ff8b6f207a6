import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { Geofence, Subscription } from '@waypost/client';
import { describeInBrowser, startBrowser } from '../support/browser-suite.js';
import { makeSelfSigned } from '../support/certificates.js';
import { type ConsoleVisit, visitConsole } from '../support/console-visit.js';
import { pageProblems } from '../support/page-problems.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { runningWaypost } from '../support/running-waypost.js';
import { until } from '../support/until.js';
import { sharedDataDir } from '../support/waypost-config.js';

const fleet = 'console-manage';
/** A name that a careless page would run. */
const HOSTILE = '<img src=x onerror="window.wasRun = true">';
/** Keeps the radius in pixels of each circle that is drawn with dashes. */
const RADII_OF_DASHED = `(() => {
  const { arc, stroke } = CanvasRenderingContext2D.prototype;
  window.dashedRadii = [];
  CanvasRenderingContext2D.prototype.arc = function (x, y, radius, ...more) {
    this.lastRadius = radius;
    return arc.call(this, x, y, radius, ...more);
  };
  CanvasRenderingContext2D.prototype.stroke = function (...path) {
    if (this.getLineDash().length > 0) window.dashedRadii.push(this.lastRadius);
    return stroke.apply(this, path);
  };
})()`;
const waypost = runningWaypost(sharedDataDir());
const browser = startBrowser();
let receiver: Receiver;
let visit: ConsoleVisit;
let page: Page;

describeInBrowser('What the console changes', () => {
  beforeAll(async () => {
    receiver = await startReceiver();
    await waypost.createFleet(fleet);
  }, 120_000);

  afterAll(() => receiver.close());

  beforeEach(async () => {
    visit = await visitConsole(browser(), waypost, fleet);
    page = visit.page;
  });

  afterEach(async () => {
    await visit.context.close();
  });

  async function geofences(): Promise<readonly Geofence[]> {
    return (await waypost.api<{ data: Geofence[] }>(fleet, 'GET', '/public/v1/geofences')).data;
  }

  async function subscriptions(): Promise<readonly Subscription[]> {
    return (await waypost.api<{ data: Subscription[] }>(fleet, 'GET', '/public/v1/webhook-subscriptions')).data;
  }

  async function mapBox() {
    const box = await page.locator('canvas').boundingBox();
    if (!box) throw new Error('There is no map.');
    return box;
  }

  it('draws a circle: a click is its center, its handles can be dragged, and figures are exact', async () => {
    await visit.open('/vehicles');
    await page.getByRole('link', { name: 'Draw a geofence' }).click();
    await page.getByRole('heading', { name: 'New geofence' }).waitFor();
    expect(await page.getByRole('button', { name: 'Create' }).isDisabled()).toBe(true);
    const box = await mapBox();
    // The whole world is seen, with 0/0 in the middle.
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    // A pixel is most of a degree.
    for (const name of ['Center: latitude', 'Center: longitude'])
      expect(Math.abs(Number(await page.getByLabel(name).inputValue()))).toBeLessThan(2);
    await page.getByLabel('Center: latitude').fill('52.1');
    await page.getByLabel('Center: longitude').fill('11.6');
    await page.getByLabel('Radius in meters').fill('800');
    await page.getByLabel('Name').fill(HOSTILE);
    expect(await pageProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('link', { name: HOSTILE }).click();

    await page.getByRole('heading', { name: HOSTILE }).waitFor();
    const map = await mapBox();
    const [x, y] = [map.x + map.width / 2, map.y + map.height / 2];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 60, y, { steps: 3 });
    await page.mouse.up();
    expect(Number(await page.getByLabel('Center: longitude').inputValue())).toBeGreaterThan(11.6);
    expect(await page.getByLabel('Radius in meters').inputValue()).toBe('800');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Vehicles' }).waitFor();
    const [stored] = await geofences();
    expect(stored).toMatchObject({ name: HOSTILE, version: 2, shape: { type: 'circle', radiusInMeters: 800 } });
    expect(await page.evaluate('window.wasRun')).toBeUndefined();
    expect(visit.problems).toEqual([]);
  });

  it('draws a polygon, with the mouse or with the keyboard alone', async () => {
    await visit.open('/vehicles?geofence=new');
    await page.getByRole('button', { name: 'Polygon' }).click();
    const box = await mapBox();
    for (const [dx, dy] of [
      [-40, -30],
      [40, -30],
      [0, 30],
    ] as const)
      await page.mouse.click(box.x + box.width / 2 + dx, box.y + box.height / 2 + dy);
    expect(await page.getByLabel(/^Corner \d: latitude$/).count()).toBe(3);
    expect(await pageProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'Remove corner 3' }).click();
    // And as somebody does it who does not draw.
    await page.getByRole('button', { name: 'Add a corner' }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Corner 3: longitude').focus();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('3.25');
    await page.getByLabel('Corner 3: latitude').focus();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('-4.5');
    await page.getByLabel('Name').focus();
    await page.keyboard.type('Harbour');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Harbour' }).waitFor();
    const harbour = (await geofences()).find(({ name }) => name === 'Harbour');
    const [ring = []] = harbour?.shape.type === 'polygon' ? harbour.shape.coordinates : [];
    expect([ring.length, ring[2]]).toEqual([3, [3.25, -4.5]]);
  });

  it('says which place a map shows, and zooms it by a wheel with Ctrl, up to the whole world', async () => {
    await visit.open('/vehicles?geofence=new');
    await page.getByText('Middle: 0.0°, 0.0°').waitFor();
    const box = await mapBox();
    await page.mouse.move(box.x + box.width / 2 + 60, box.y + box.height / 2 - 60);
    await page.getByText(/^\d+\.\d° N, \d+\.\d° E$/).waitFor();
    await page.mouse.wheel(0, -10);
    await page.keyboard.down('Control');
    for (let count = 0; count < 6; count += 1) await page.mouse.wheel(0, -500);
    await page.getByText(/^\d+\.\d{2}° N, \d+\.\d{2}° E$/).waitFor();
    for (let count = 0; count < 20; count += 1) await page.mouse.wheel(0, 500);
    await page.keyboard.up('Control');
    await page.getByText(/^\d+\.\d° N, \d+\.\d° E$/).waitFor();
    expect(visit.problems).toEqual([]);
  });

  it('lets a finger scroll the page past a map, which stays as it was', async () => {
    const viewport = { width: 360, height: 500 };
    const phone = await visitConsole(browser(), waypost, fleet, { viewport, hasTouch: true, isMobile: true });
    await phone.open('/vehicles?geofence=new');
    await phone.page.getByText('Middle: 0°, 0°').waitFor();
    const box = await phone.page.locator('canvas').boundingBox();
    const [x, y] = [box ? box.x + box.width / 2 : 0, box ? box.y + box.height / 2 : 0];
    const cdp = await phone.context.newCDPSession(phone.page);
    /** Fingers, each from one point to another. */
    const touch = async (...fingers: (readonly [from: readonly number[], to: readonly number[]])[]): Promise<void> => {
      for (let step = 0; step <= 10; step += 1)
        await cdp.send('Input.dispatchTouchEvent', {
          type: step === 0 ? 'touchStart' : 'touchMove',
          touchPoints: fingers.map(([from, to], id) => {
            const [atX = 0, atY = 0] = from.map((start, axis) => start + (((to[axis] ?? 0) - start) * step) / 10);
            return { x: atX, y: atY, id };
          }),
        });
      await cdp.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    };
    const scrolled = (): Promise<number> => phone.page.evaluate('scrollY');
    await touch([
      [x, y],
      [x, y - 100],
    ]);
    await until(async () => expect(await scrolled()).toBeGreaterThan(50));
    await phone.page.evaluate('scrollTo(0, 0)');
    await phone.page.getByText('Middle: 0°, 0°').waitFor();

    expect(phone.problems).toEqual([]);
    await phone.context.close();
  });

  it('draws dashes around a yard, but not around a country of which only the yard is shown', async () => {
    const large = 'console-manage-large';
    await waypost.createFleet(large);
    const center = { latitude: 1, longitude: 2 };
    const draw = (name: string, radiusInMeters: number) =>
      waypost.api<Geofence>(large, 'POST', '/public/v1/geofences', {
        name,
        shape: { type: 'circle', center, radiusInMeters },
      });
    await draw('Country', 500_000);
    const { id } = await draw('Yard', 100);
    await page.addInitScript(RADII_OF_DASHED);
    await visit.open(`/vehicles?geofence=${id}`, large);
    const radii = () => page.evaluate<number[]>('window.dashedRadii');
    await until(async () => expect(await radii()).not.toEqual([]));
    expect(Math.max(...(await radii()))).toBeLessThan(10_000);
  });

  it('does not overwrite what somebody else has changed in between', async () => {
    const shape = { type: 'circle', center: { latitude: 1, longitude: 2 }, radiusInMeters: 100 };
    const { id } = await waypost.api<Geofence>(fleet, 'POST', '/public/v1/geofences', { name: 'Yard', shape });
    await visit.open(`/vehicles?geofence=${id}`);
    await page.getByLabel('Radius in meters').fill('300');
    await waypost.api(fleet, 'PATCH', `/public/v1/geofences/${id}`, { name: 'Their yard' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Someone else has changed this geofence').waitFor();
    await page.getByRole('button', { name: 'Show their version' }).click();
    await page.getByRole('heading', { name: 'Their yard' }).waitFor();
    expect(await page.getByLabel('Radius in meters').inputValue()).toBe('100');
    await page.getByRole('button', { name: 'Delete' }).click();
    expect(await pageProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect((await geofences()).some((one) => one.id === id)).toBe(true);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete permanently' }).click();
    await page.getByRole('heading', { name: 'Vehicles' }).waitFor();
    expect((await geofences()).some((one) => one.id === id)).toBe(false);
  });

  it('makes a subscription with all its settings, and edits the version that was read', async () => {
    await visit.open('/overview');
    await page.getByRole('heading', { name: 'Receive your first webhook' }).waitFor();
    await page.getByRole('link', { name: 'Create a subscription' }).click();
    await page.getByLabel('URL that receives the events').fill(receiver.url('/made'));
    await page.getByLabel('position', { exact: true }).check();
    await page.getByText('More settings').click();
    await page.getByLabel('Only these devices').fill('van-1\nvan, 2');
    await page.getByLabel('While the endpoint is down').selectOption('hold');
    const { cert, key } = makeSelfSigned('DNS:waypost.example');
    await page.getByLabel('Client certificate').selectOption('a certificate and its key');
    await page.getByLabel('Certificate in PEM').fill(cert);
    await page.getByLabel('Private key in PEM').fill(key);
    for (const [index, [name, value]] of Object.entries({ 'X-Tenant': 'acme', 'X-Api-Key': 's3cret' }).entries()) {
      await page.getByRole('button', { name: 'Add a header' }).click();
      await page.getByLabel(`Header ${String(index + 1)}: name`).fill(name);
      await page.getByLabel(`Header ${String(index + 1)}: value`).fill(value);
    }
    await page.getByLabel('Header 2: secret').check();
    expect(await pageProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.locator('code').filter({ hasText: 'whsec_' }).waitFor();
    for (const language of ['Python', 'Go', 'TypeScript']) {
      await page.getByRole('button', { name: language }).click();
      expect(await page.locator('pre').textContent()).toContain('WEBHOOK_SECRET');
    }
    expect(await subscriptions()).toMatchObject([{ deviceIds: ['van-1', 'van, 2'], onOutage: 'hold' }]);

    await page.getByRole('link', { name: 'position', exact: true }).click();
    await page.getByText('CN=waypost test, until').waitFor();
    await page.getByText('x-tenant: acme, x-api-key (secret)').waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Client certificate').selectOption('none');
    await dialog.getByLabel('Client certificate').selectOption('CN=waypost test');
    await dialog.getByLabel('Maximum attempts per second').fill('7');
    expect(await dialog.getByLabel('Header 2: value').getAttribute('placeholder')).toBe('kept');
    expect(await pageProblems(page)).toEqual([]);
    const [made] = await subscriptions();
    await waypost.api(fleet, 'PATCH', `/public/v1/webhook-subscriptions/${made?.id ?? ''}`, { strictOrder: true });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('Someone else has changed it').waitFor();
    await dialog.getByRole('button', { name: 'Show their version' }).click();
    await until(async () => expect(await dialog.getByLabel('Strict order').isChecked()).toBe(true));
    await dialog.getByLabel('Maximum attempts per second').fill('7');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('7 per second').waitFor();
    expect(await subscriptions()).toMatchObject([
      {
        rateLimitPerSecond: 7,
        strictOrder: true,
        onOutage: 'hold',
        clientCertificate: { subject: 'CN=waypost test' },
        headers: [
          { name: 'x-tenant', value: 'acme', secret: false },
          { name: 'x-api-key', secret: true },
        ],
      },
    ]);
  });

  it('replaces the headers of a subscription together, with the values of secret ones (R-17)', async () => {
    const [made] = await subscriptions();
    await visit.open(`/subscriptions/${made?.id ?? ''}`);
    await page.getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Header 1: value').fill('globex');
    await dialog.getByText('enter secret values again').waitFor();
    expect(await pageProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Header 2: value');
    await dialog.getByRole('button', { name: 'Remove header 2' }).click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('x-tenant: globex', { exact: true }).waitFor();
    expect(await subscriptions()).toMatchObject([{ headers: [{ name: 'x-tenant', value: 'globex', secret: false }] }]);
  });

  it('disables a subscription only after it has said what that means, and activates it again (R-16)', async () => {
    const [made] = await subscriptions();
    await visit.open(`/subscriptions/${made?.id ?? ''}`);
    await page.getByRole('button', { name: 'Disable', exact: true }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.textContent()).toContain('end as failed, without a request');
    expect(await pageProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect((await subscriptions())[0]).toMatchObject({ id: made?.id, status: 'active' });

    await page.getByRole('button', { name: 'Disable', exact: true }).click();
    await page.getByRole('button', { name: 'Disable it' }).click();
    await page.getByRole('button', { name: 'Activate' }).waitFor();
    expect(await page.locator('.badge').first().textContent()).toContain('disabled');
    expect(await page.getByRole('button', { name: 'Disable', exact: true }).count()).toBe(0);
    expect((await subscriptions())[0]).toMatchObject({ id: made?.id, status: 'disabled' });

    await page.getByRole('button', { name: 'Activate' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    expect((await subscriptions())[0]).toMatchObject({ id: made?.id, status: 'active' });
  });

  it('rotates a secret and deletes a subscription only after it has said what that means', async () => {
    const [made] = await subscriptions();
    await visit.open(`/subscriptions/${made?.id ?? ''}`);
    await page.getByRole('button', { name: 'Rotate the secret' }).click();
    expect(await pageProblems(page)).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    expect(await page.getByText('whsec_').count()).toBe(0);
    await page.getByRole('button', { name: 'Rotate the secret' }).click();
    await page.getByRole('button', { name: 'Create a new secret' }).click();
    await page.locator('code').filter({ hasText: 'whsec_' }).waitFor();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Cancel');
    await page.getByRole('button', { name: 'Delete permanently' }).click();
    await page.getByText('No subscription yet').waitFor();
    expect(await subscriptions()).toEqual([]);
    await page.goBack();
    await page.getByRole('heading', { name: 'There is no such subscription' }).waitFor();
  });

  it('says so when somebody else deletes the subscription that it shows', async () => {
    const path = '/public/v1/webhook-subscriptions';
    const made = { url: receiver.url('/deleted'), eventTypes: ['ignition_off'] };
    const { data } = await waypost.api<{ data: Subscription[] }>(fleet, 'POST', path, made);
    const id = data[0]?.id ?? '';
    await visit.open(`/subscriptions/${id}`);
    await page.getByRole('heading', { name: 'ignition_off' }).waitFor();
    await waypost.api(fleet, 'DELETE', `${path}/${id}`);
    await page.getByRole('heading', { name: 'There is no such subscription' }).waitFor();
    expect(await page.getByRole('button', { name: 'Pause' }).count()).toBe(0);
  });

  it('sends a window of a subscription again, and shows its progress and its figures (R-30, R-41)', async () => {
    const eventTypes = ['ignition_on'];
    const url = receiver.url('/window');
    const { data } = await waypost.api<{ data: Subscription[] }>(fleet, 'POST', '/public/v1/webhook-subscriptions', {
      url,
      eventTypes,
    });
    const at = (minute: number) => new Date(Date.UTC(2026, 4, 4, 8, minute)).toISOString();
    const ping = { deviceId: 'van-1', latitude: 52.1, longitude: 11.6 };
    await waypost.publish(fleet, [
      { ...ping, eventTime: at(0), ignition: false },
      { ...ping, eventTime: at(1), ignition: true },
    ]);
    await until(() => {
      expect(receiver.callsTo('/window')).toHaveLength(1);
      return Promise.resolve();
    });
    await visit.open(`/subscriptions/${data[0]?.id ?? ''}`);
    await page.getByRole('figure').first().locator('canvas').waitFor();
    await page.getByRole('combobox', { name: 'Status', exact: true }).selectOption('delivered');
    await page.getByLabel('Status code').fill('200');
    await page.getByRole('button', { name: 'Send them again' }).click();
    await page.getByText('delivered deliveries with code 200').waitFor();
    await page.getByText('1 of 1 passed to the sender').waitFor();
    await until(() => {
      expect(receiver.callsTo('/window')).toHaveLength(2);
      return Promise.resolve();
    });
    expect(await pageProblems(page)).toEqual([]);
    expect(visit.problems).toEqual([]);
  });
});
