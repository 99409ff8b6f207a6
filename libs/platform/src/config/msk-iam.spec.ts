import { describe, expect, it } from '@jest/globals';
import { installedSigner, mskIamTokens } from './msk-iam.js';

function build() {
  const clock = { ms: 0 };
  const regions: string[] = [];
  const generateAuthToken = ({ region }: { readonly region: string }) => {
    regions.push(region);
    return Promise.resolve({ token: `token-${String(regions.length)}`, expiryTime: 1_000_000 + clock.ms + 900_000 });
  };
  const token = mskIamTokens('eu-west-1', {
    load: () => Promise.resolve({ generateAuthToken }),
    wallNow: () => 1_000_000 + clock.ms,
    now: () => clock.ms,
  });
  return { clock, regions, token };
}

describe('Tokens for the login at Amazon MSK', () => {
  it('are signed for the region, once for all connections until a minute before they expire', async () => {
    const { clock, regions, token } = build();
    expect(await Promise.all([token(), token()])).toEqual([{ value: 'token-1' }, { value: 'token-1' }]);
    clock.ms = 839_999;
    expect(await token()).toEqual({ value: 'token-1' });
    clock.ms = 840_000;
    expect(await token()).toEqual({ value: 'token-2' });
    expect(regions).toEqual(['eu-west-1', 'eu-west-1']);
  });

  it('need a package that is not among the dependencies', () => {
    expect(installedSigner()).toBeNull();
  });
});
