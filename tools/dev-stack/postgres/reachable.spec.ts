import { describe, expect, it } from '@jest/globals';
import { canPass } from './reachable.js';

const database = { uid: 101, gid: 104 };
const root = { uid: 0, gid: 0 };

describe('canPass', () => {
  it('lets everybody through folders that are open to all', () => {
    expect(
      canPass(
        [
          { ...root, mode: 0o755 },
          { ...root, mode: 0o711 },
        ],
        database,
      ),
    ).toBe(true);
  });

  it('stops at one closed folder anywhere above', () => {
    expect(
      canPass(
        [
          { ...root, mode: 0o755 },
          { ...root, mode: 0o700 },
          { ...root, mode: 0o755 },
        ],
        database,
      ),
    ).toBe(false);
  });

  it('goes by the bits of the owner for the owner, and of the group for its members, even where others have more', () => {
    expect(canPass([{ ...database, mode: 0o700 }], database)).toBe(true);
    expect(canPass([{ ...database, mode: 0o011 }], database)).toBe(false);
    expect(canPass([{ uid: 0, gid: 104, mode: 0o710 }], database)).toBe(true);
    expect(canPass([{ uid: 0, gid: 104, mode: 0o701 }], database)).toBe(false);
  });
});
