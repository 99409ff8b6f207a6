import { installedSigner, type LoadSigner } from './msk-iam.js';

/** What a login by tokens needs besides its configuration. */
export interface LoginEffects {
  /** null: the package is not installed. */
  readonly signer: LoadSigner | null;
  readonly fetch: typeof fetch;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
}

export function loginEffects(): LoginEffects {
  return { signer: installedSigner(), fetch, nowMs: Date.now, monotonicMs: () => performance.now() };
}
