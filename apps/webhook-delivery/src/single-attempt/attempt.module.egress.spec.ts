import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import { EgressClient, type EgressResult } from '@waypost/egress';
import type { EgressConfig } from '@waypost/platform';
import { type Receiver, startReceiver } from '../../../../test/support/receiver.js';
import { until } from '../../../../test/support/until.js';
import { DELIVERIES_BEGUN } from './attempt-limits.js';
import { startEgressModule } from './testing/egress-module.js';

const EGRESS: EgressConfig = {
  allowedSubnets: ['127.0.0.0/8'],
  denied: ['127.0.0.9/32', 'rival.example'],
  allowHttp: true,
};

let receiver: Receiver;
let modules: TestingModule[];

beforeEach(async () => {
  receiver = await startReceiver();
  modules = [];
});
afterEach(async () => {
  await Promise.all(modules.map((module) => module.close()));
  await receiver.close();
});

async function start(egress: EgressConfig = EGRESS) {
  const module = await startEgressModule(egress);
  modules.push(module);
  const client = module.get(EgressClient);
  const post = (url = receiver.url('/hook'), deadlineMs = 5_000): Promise<EgressResult> =>
    client.post({ url, headers: {}, body: '{}', deadlineMs });
  return { module, post };
}

describe('the HTTP client of the process', () => {
  it('calls what the configuration allows, and nothing that it denies (R-27)', async () => {
    const { post } = await start();
    expect(await post()).toMatchObject({ statusCode: 200 });
    expect(await post('http://127.0.0.9/')).toMatchObject({ errorCode: 'address_refused' });
    expect(await post('http://eu.rival.example/')).toMatchObject({ errorCode: 'address_refused' });
  });

  it('calls neither http nor addresses that are not public unless the configuration allows them (R-18, R-27)', async () => {
    const secure = await start({ ...EGRESS, allowHttp: false });
    expect(await secure.post()).toMatchObject({ errorCode: 'url_refused' });
    const strict = await start({ ...EGRESS, allowedSubnets: [] });
    expect(await strict.post()).toMatchObject({ errorCode: 'address_refused' });
    expect(receiver.calls).toEqual([]);
  });

  it('has a connection for each delivery that may be begun at an origin, though none is answered (R-22)', async () => {
    receiver.behave(() => ({ type: 'hang' }));
    const { module, post } = await start();
    const posts = Array.from({ length: DELIVERIES_BEGUN.perOrigin }, () => post(undefined, 60_000));
    await until(() => receiver.calls.length === DELIVERIES_BEGUN.perOrigin);
    await module.close();
    await Promise.all(posts);
  });

  it('is closed with the application: what is in flight ends, and nothing is sent any more', async () => {
    receiver.behave(() => ({ type: 'hang' }));
    const { module, post } = await start();
    const inFlight = post(undefined, 60_000);
    await until(() => receiver.calls.length === 1);
    await module.close();
    const closed = { type: 'error', errorCode: 'network_error', detail: 'the client is closed' };
    expect([await inFlight, await post()]).toEqual([closed, closed]);
    expect(receiver.calls).toHaveLength(1);
  });
});
