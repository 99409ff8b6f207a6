import { timingSafeEqual } from 'node:crypto';
import { CREDENTIAL_PREFIXES, hashApiKey } from '@waypost/domain';

/** Names the fleet that an admin key acts for. */
export const FLEET_HEADER = 'X-Waypost-Fleet';

/** 43 characters are 256 bits in base64url. */
const FORM = new RegExp(`^${CREDENTIAL_PREFIXES.adminKey}[\\w-]{43,128}$`);
const ID_BYTES = 4;

/** The keys of operators: only their SHA-256 is configured, so the configuration opens nothing. None: there is no operator. */
export class AdminKeys {
  constructor(private readonly hashes: readonly Buffer[]) {}

  /** Whether it has the form of an admin key: nothing else is compared, and it is no API key. */
  hasAdminKeyForm(key: string): boolean {
    return key.startsWith(CREDENTIAL_PREFIXES.adminKey);
  }

  /** The id of this key for the log, or null. */
  find(key: string): string | null {
    if (!FORM.test(key)) return null;
    const hash = hashApiKey(key);
    const isKnown = this.hashes.some((known) => timingSafeEqual(known, hash));
    return isKnown ? idOf(hash) : null;
  }

  /** Whether the admin key with this id is still configured. */
  has(keyId: string): boolean {
    return this.hashes.some((known) => idOf(known) === keyId);
  }
}

function idOf(hash: Buffer): string {
  return `admin-${hash.subarray(0, ID_BYTES).toString('hex')}`;
}
