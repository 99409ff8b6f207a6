import { SenderHarness } from './sender-harness.js';

/** Five minutes pass in a second, the 15 s between probes in 50 ms. */
export const SPEED = 300;
export const minuteMs = 60_000;
export const dayMs = 24 * 60 * minuteMs;

/** Sends for `subscription-1`, which holds through an outage, and for `letting-fail`, which does not. */
export async function openOutageHarness(): Promise<SenderHarness> {
  const harness = await SenderHarness.create({ speed: SPEED });
  harness.subscribe('subscription-1', { onOutage: 'hold' });
  harness.subscribe('letting-fail', { onOutage: 'fail' });
  return harness;
}

/** The types of its operational events, but for failed probes. */
export async function published(harness: SenderHarness): Promise<string[]> {
  return (await harness.operations()).map(({ type }) => type).filter((type) => type !== 'probed');
}
