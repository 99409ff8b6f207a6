/** Jest's own setting is one for all tiers; a unit test that takes this long is stuck. */
import { jest } from '@jest/globals';

jest.setTimeout(Number(process.env.WAYPOST_UNIT_TIMEOUT_MS ?? 20_000));
