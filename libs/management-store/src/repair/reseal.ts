import { type EntityManager, MoreThan } from 'typeorm';
import { createDataSource } from '@waypost/database';
import {
  isSealedWithNewest,
  type Keys,
  openClientKey,
  openClientSecret,
  type OpenedSecret,
  openHeaderValue,
  openSigningSecret,
  sealClientKey,
  sealClientSecret,
  sealHeaderValue,
  sealSigningSecret,
  type WebhookSubscription,
} from '@waypost/domain';
import { MANAGEMENT_ENTITIES, OutboxEntity, WebhookSubscriptionEntity } from '../entities.js';
import type { RandomBytes } from '../stores/api-key-store.js';
import { appendVersions } from '../stores/subscription-versions.js';

export interface ResealProgress {
  readonly total: number;
  /** Read so far, in the order of their ids. */
  readonly read: number;
  readonly resealed: number;
  /** Subscriptions with a secret that no key opens; they stay as they are. */
  readonly unreadable: readonly string[];
}

/** Seals all secrets of all subscriptions under the newest key. */
export interface Reseal {
  /**
   * Batch by batch: each is one SQL transaction with its outbox rows. What has the newest key already is left alone, so
   * it can be repeated, also after an interruption.
   */
  run(onProgress: (progress: ResealProgress) => void): Promise<ResealProgress>;
  /** Changes that were waiting when `run` ended and are not in the topic yet. */
  unpublished(): Promise<number>;
  close(): Promise<void>;
}

export interface ResealOptions {
  readonly keys: Keys;
  readonly randomBytes: RandomBytes;
  readonly now: () => number;
}

const SUBSCRIPTIONS_PER_BATCH = 200;
const NONCE_BYTES = 12;
const BEFORE_ALL_IDS = '00000000-0000-0000-0000-000000000000';

export async function openReseal(databaseUrl: string, options: ResealOptions): Promise<Reseal> {
  const settings = { entities: MANAGEMENT_ENTITIES, applicationName: 'waypost keys reseal', seesAllFleets: true };
  const dataSource = await createDataSource(databaseUrl, settings).initialize();
  const { manager } = dataSource;
  return {
    async run(onProgress) {
      let after = BEFORE_ALL_IDS;
      let progress: ResealProgress = {
        total: await manager.count(WebhookSubscriptionEntity),
        read: 0,
        resealed: 0,
        unreadable: [],
      };
      for (;;) {
        const batch = await resealBatch(manager, after, options);
        if (batch.lastId === null) return progress;
        after = batch.lastId;
        progress = {
          total: progress.total,
          read: progress.read + batch.read,
          resealed: progress.resealed + batch.resealed,
          unreadable: [...progress.unreadable, ...batch.unreadable],
        };
        onProgress(progress);
      }
    },
    unpublished: () =>
      manager
        .createQueryBuilder(OutboxEntity, 'row')
        .where("row.kind = 'webhook-subscription' AND row.publishedAt IS NULL")
        .getCount(),
    close: () => dataSource.destroy(),
  };
}

interface Batch {
  /** null: there was nothing left. */
  readonly lastId: string | null;
  readonly read: number;
  readonly resealed: number;
  readonly unreadable: readonly string[];
}

function resealBatch(database: EntityManager, after: string, options: ResealOptions): Promise<Batch> {
  return database.transaction(async (manager): Promise<Batch> => {
    // Locked in the order of ids, like every change of several subscriptions.
    const subscriptions = await manager.find(WebhookSubscriptionEntity, {
      where: { id: MoreThan(after) },
      order: { id: 'ASC' },
      take: SUBSCRIPTIONS_PER_BATCH,
      lock: { mode: 'pessimistic_write' },
    });
    const results = subscriptions.map((subscription) => reseal(subscription, options));
    const changed = results.flatMap((result) => (result.isChanged ? [result.subscription] : []));
    for (const { id, secrets, auth, headers, clientCertificate, version } of changed) {
      const sealed = { secrets, auth, headers, clientCertificate };
      await manager.update(WebhookSubscriptionEntity, { id }, { ...sealed, version });
    }
    if (changed.length > 0) await appendVersions(manager, changed, options.now());
    return {
      lastId: subscriptions.at(-1)?.id ?? null,
      read: subscriptions.length,
      resealed: changed.length,
      unreadable: results.flatMap((result) => (result.isReadable ? [] : [result.subscription.id])),
    };
  });
}

interface Resealed {
  /** The next version, if it changed. Its `updatedAt` stays: that is the time of its owner's last change. */
  readonly subscription: WebhookSubscription;
  readonly isChanged: boolean;
  readonly isReadable: boolean;
}

function reseal(current: WebhookSubscription, { keys, randomBytes }: ResealOptions): Resealed {
  const found = { isChanged: false, isReadable: true };
  const renew: Renew = (sealed, opened, seal) => {
    if (opened.type === 'unreadable') found.isReadable = false;
    if (opened.type === 'unreadable' || isSealedWithNewest(sealed, keys)) return sealed;
    found.isChanged = true;
    return seal(opened.plaintext, randomBytes(NONCE_BYTES));
  };
  const sealed = renewAll(current, keys, renew);
  const version = found.isChanged ? current.version + 1 : current.version;
  return { subscription: { ...current, ...sealed, version }, ...found };
}

type Renew = (sealed: string, opened: OpenedSecret, seal: (plaintext: Buffer, nonce: Buffer) => string) => string;

/** Every field of a subscription that holds something sealed. */
function renewAll(current: WebhookSubscription, keys: Keys, renew: Renew) {
  const { id, auth, clientCertificate } = current;
  const secrets = current.secrets.map(({ sealed, expiresAt }) => ({
    sealed: renew(sealed, openSigningSecret(sealed, keys, id), (plaintext, nonce) =>
      sealSigningSecret(plaintext, keys, nonce, id),
    ),
    expiresAt,
  }));
  const sealClient = (plaintext: Buffer, nonce: Buffer) => sealClientSecret(plaintext.toString(), keys, nonce, id);
  const sealKey = (plaintext: Buffer, nonce: Buffer) => sealClientKey(plaintext.toString(), keys, nonce, id);
  const headers = current.headers.map((header) => {
    const { name, sealedValue } = header;
    if (sealedValue === null) return header;
    const of = { subscriptionId: id, name };
    const seal = (plaintext: Buffer, nonce: Buffer) => sealHeaderValue(plaintext.toString(), keys, nonce, of);
    return { ...header, sealedValue: renew(sealedValue, openHeaderValue(sealedValue, keys, of), seal) };
  });
  return {
    secrets,
    headers,
    auth: auth && {
      ...auth,
      sealedClientSecret: renew(
        auth.sealedClientSecret,
        openClientSecret(auth.sealedClientSecret, keys, id),
        sealClient,
      ),
    },
    clientCertificate: clientCertificate && {
      ...clientCertificate,
      sealedKey: renew(clientCertificate.sealedKey, openClientKey(clientCertificate.sealedKey, keys, id), sealKey),
    },
  };
}
