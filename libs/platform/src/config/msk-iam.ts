import { createRequire } from 'node:module';
import { sharedToken } from './shared-token.js';

/** Optional: it adds 29 MB that only Amazon MSK IAM users need. */
export const SIGNER_PACKAGE = 'aws-msk-iam-sasl-signer-js';

/** The part of the package that we use. It finds the credentials like every AWS SDK. */
export interface MskSigner {
  /** `expiryTime`: epoch milliseconds. */
  readonly generateAuthToken: (options: {
    readonly region: string;
  }) => Promise<{ readonly token: string; readonly expiryTime: number }>;
}

export type LoadSigner = () => Promise<MskSigner>;

/** null: the package is not installed. */
export function installedSigner(): LoadSigner | null {
  try {
    createRequire(import.meta.url).resolve(SIGNER_PACKAGE);
  } catch {
    return null;
  }
  return () => import(SIGNER_PACKAGE) as Promise<MskSigner>;
}

interface Effects {
  readonly load: LoadSigner;
  /** Epoch milliseconds, as in the signer's expiry times. */
  readonly wallNow: () => number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** Tokens for the IAM login of Amazon MSK, signed locally; finding the credentials may take requests. */
export function mskIamTokens(region: string, { load, wallNow, now }: Effects) {
  return sharedToken(async () => {
    const { generateAuthToken } = await load();
    const { token, expiryTime } = await generateAuthToken({ region });
    return { value: token, lifeMs: expiryTime - wallNow() };
  }, now);
}
