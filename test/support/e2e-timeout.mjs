/** A guard against hanging: these tests share a machine that may be busy with the other tiers. */
import { jest } from '@jest/globals';

jest.setTimeout(300_000);
