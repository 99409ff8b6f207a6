import { describe, expect, it } from '@jest/globals';
import type { EntityManager } from 'typeorm';
import { API_ROLE, type LoginPurpose, missingTableRights, PROJECTOR_ROLE } from './database-roles.js';

/** @returns what is asked for, as `TABLE outbox INSERT` */
async function askedFor(...purposes: readonly LoginPurpose[]): Promise<string[]> {
  const asked: string[] = [];
  const query = (_: string, [kinds = [], names = [], privileges = []]: readonly string[][]) => {
    asked.push(...kinds.map((kind, index) => `${kind} ${String(names[index])} ${String(privileges[index])}`));
    return Promise.resolve([]);
  };
  await missingTableRights({ query } as unknown as EntityManager, purposes);
  return asked;
}

describe('missingTableRights', () => {
  it('asks for each right that the roles of a login have, and for those of no other role', async () => {
    const ofApi = await askedFor(API_ROLE);
    expect(ofApi).toEqual(expect.arrayContaining(['TABLE outbox INSERT', 'TABLE outbox DELETE']));
    expect(ofApi).toEqual(expect.arrayContaining(['SEQUENCE outbox_id_seq USAGE', 'TABLE fleet_deliveries SELECT']));
    expect(ofApi).not.toContain('TABLE deliveries INSERT');
    const ofProjector = await askedFor(PROJECTOR_ROLE);
    expect(ofProjector).toContain('TABLE deliveries INSERT');
    expect(ofProjector).not.toContain('TABLE outbox INSERT');
    expect(await askedFor(API_ROLE, PROJECTOR_ROLE)).toEqual([...ofApi, ...ofProjector]);
  });

  it('asks for nothing but reading at a standby', async () => {
    const ofPages = await askedFor('pages');
    expect(ofPages).toContain('TABLE fleet_deliveries SELECT');
    expect(ofPages.filter((right) => !right.endsWith(' SELECT'))).toEqual([]);
    expect(ofPages).not.toContain('TABLE api_keys SELECT');
  });

  it('names what the server says is missing', async () => {
    const query = () => Promise.resolve([{ name: 'outbox', privilege: 'INSERT' }]);
    const connection = { query } as unknown as EntityManager;
    expect(await missingTableRights(connection, [API_ROLE])).toEqual(['INSERT on outbox']);
  });
});
