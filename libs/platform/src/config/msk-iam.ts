import { createRequire } from 'node:module';
import { sharedToken } from './shared-token.js';

/** Not a dependency: with what it needs it has 29 MB, which only clusters of Amazon MSK with IAM want. */
export const SIGNER_PACKAGE = 'aws-msk-iam-sasl-signer-js';

/** The part of the package that is used. It finds the credentials as every AWS SDK does. */
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
  /** Epoch milliseconds, by which the signer says when a token expires. */
  readonly wallNow: () => number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** Tokens for the login at Amazon MSK by IAM. Each is signed here; the lookup of the credentials may take requests. */
export function mskIamTokens(region: string, { load, wallNow, now }: Effects) {
  return sharedToken(async () => {
    const { generateAuthToken } = await load();
    const { token, expiryTime } = await generateAuthToken({ region });
    return { value: token, lifeMs: expiryTime - wallNow() };
  }, now);
}
