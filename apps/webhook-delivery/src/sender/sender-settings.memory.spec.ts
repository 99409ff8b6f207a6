import { expect, it } from '@jest/globals';
import { DEFAULT_SENDER_SETTINGS } from './sender-settings.js';

/** Of the container that the Helm chart gives to a process. */
const CONTAINER_BYTES = 1_073_741_824;

it('unfinished deliveries leave most of the memory to the rest of the process, and one partition some to the others (R-26)', () => {
  const { unfinished, unfinishedBytes } = DEFAULT_SENDER_SETTINGS;
  expect(unfinishedBytes).toBeLessThan(CONTAINER_BYTES / 2);
  expect(unfinished.bytes).toBeLessThan(unfinishedBytes / 2);
});
