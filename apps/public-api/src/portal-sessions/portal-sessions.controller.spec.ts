import { describe, expect, it } from '@jest/globals';
import type { ManagementStore, PortalSessionStore } from '@waypost/management-store';
import { startTestApiPerTest } from '../testing/test-api.js';

const [ID, PORTAL] = ['0f0e6c1c-5f43-4a3c-9a52-0d6f3d2a7a11', '2a6a2c56-7d55-4a1a-8d3e-0e6f3a0c9b11'] as const;
const open = startTestApiPerTest();

async function linkOf(publicUrl: string): Promise<string> {
  const create = ({ nowMs, ...session }: Parameters<PortalSessionStore['create']>[0]) => {
    const stored = { id: ID, ...session, createdAt: nowMs, exchangedAt: null, revokedAt: null };
    return Promise.resolve({ type: 'created', code: 'the-code', stored });
  };
  const store = {
    portalSessions: { find: () => Promise.resolve(null), create },
    fleetPortals: { of: () => Promise.resolve({ portalId: PORTAL }) },
  };
  const { request } = await open({ publicUrl, store: store as unknown as Partial<ManagementStore> });
  const json = { scopes: ['events:read'] };
  const { body } = await request('/public/v1/portal-sessions', { method: 'POST', json });
  return (body as { link: string }).link;
}

describe('the link to a portal session (R-42)', () => {
  it.each(['https://hooks.example', 'https://hooks.example/', 'https://hooks.example//'])(
    'is at the configured URL, with one slash after it: %s',
    async (publicUrl) => {
      expect(await linkOf(publicUrl)).toBe(`https://hooks.example/portal/${PORTAL}/${ID}#portal=the-code`);
    },
  );
});
