import { Inject, Injectable } from '@nestjs/common';
import { REPLACED_SECRET_SIGNS_MS, testDelivery, type WebhookSubscription } from '@waypost/domain';
import {
  type ExpectedVersions,
  type SubscriptionRef,
  SubscriptionStore,
  type SubscriptionTarget,
} from '@waypost/management-store';
import { CLOCK, CONFIG, NEW_ID } from '@waypost/platform';
import { type Visibility, visibilityFilter } from '../auth/caller.js';
import type { PublicApiConfig } from '../config.js';
import { type Versioned, versionMismatch } from '../endpoint/entity-tag.js';
import { tooMany, tooManyOfFleet } from '../errors/limit-reached.js';
import { noSuchFleet } from '../fleets/fleets.errors.js';
import type { MakeChange } from '../idempotency/idempotent-requests.js';
import { PublishedChanges } from '../outbox/published-changes.js';
import { type ListPage, ListPagesService } from '../paging/list-pages.service.js';
import {
  type ListedSubscriptionDto,
  type QueuedTestDto,
  type SubscriptionDto,
  type SubscriptionWithHealthDto,
  type SubscriptionWithSecretDto,
  toSubscription,
} from './shown-subscription.dto.js';
import { CHECK_URL, type CheckUrl, requireAcceptedUrls } from './subscriber-urls.js';
import { SubscriptionDrafts } from './subscription-drafts.js';
import { toHealth } from './subscription-health.dto.js';
import { SubscriptionHealthReader } from './subscription-health.js';
import type { CreateSubscriptionsDto, SubscriptionListQueryDto, UpdateSubscriptionDto } from './subscriptions.dto.js';
import {
  mayNotAddDevices,
  noSuchSubscription,
  notActive,
  notInEffectYet,
  subscriptionsTaken,
  tooManySecrets,
  urlTaken,
} from './subscriptions.errors.js';

/** Manages the subscriptions of one fleet at a time. @throws ApiError for every refusal */
@Injectable()
export class SubscriptionsService {
  constructor(
    private readonly subscriptions: SubscriptionStore,
    private readonly drafts: SubscriptionDrafts,
    private readonly health: SubscriptionHealthReader,
    @Inject(CHECK_URL) private readonly checkUrl: CheckUrl,
    private readonly published: PublishedChanges,
    private readonly pages: ListPagesService,
    @Inject(NEW_ID) private readonly newId: () => string,
    @Inject(CLOCK) private readonly nowMs: () => number,
    @Inject(CONFIG) private readonly config: Pick<PublicApiConfig, 'http'>,
  ) {}

  async create(
    fleetId: string,
    body: CreateSubscriptionsDto,
    change: MakeChange<SubscriptionWithSecretDto[]>,
  ): Promise<SubscriptionWithSecretDto[]> {
    await requireAcceptedUrls(this.checkUrl, body);
    return change(async (stores) => {
      const fleet = await stores.fleets.find(fleetId);
      if (fleet === null) throw noSuchFleet();
      const { subscriptions, secret } = this.drafts.draft(body, fleet);
      const result = await stores.subscriptions.create(subscriptions, this.nowMs(), this.config.http.fleetLimits);
      if (result.type === 'fleet_not_found') throw noSuchFleet();
      if (result.type === 'limit_reached') throw tooMany(result);
      if (result.type === 'conflict') throw subscriptionsTaken(result.taken);
      const answer = result.subscriptions.map((stored) => withSecret(stored, secret));
      return { answer, outboxIds: result.outboxIds };
    });
  }

  async list(caller: Visibility, query: SubscriptionListQueryDto): Promise<ListPage<ListedSubscriptionDto>> {
    const { fleetId, subscriptionIds: ids } = caller;
    const { limit: _limit, pageState: _pageState, ...filters } = query;
    const walk = {
      fleetId,
      path: '/public/v1/webhook-subscriptions',
      filters: { ...filters, ...visibilityFilter(caller) },
    };
    const page = await this.pages.byCreation(
      walk,
      query,
      (wanted) => this.subscriptions.list({ ...wanted, ...filters, ids }),
      (stored) => stored,
    );
    const suspensions = await this.health.readSuspensions(
      fleetId,
      page.data.map(({ id }) => id),
    );
    const data = page.data.map((stored, index) => {
      return { ...toSubscription(stored), suspended: suspensions[index]?.isSuspended === true };
    });
    return { ...page, data };
  }

  async get(ref: SubscriptionRef): Promise<Versioned<SubscriptionWithHealthDto>> {
    const stored = await this.subscriptions.get(ref);
    if (stored === null) throw noSuchSubscription();
    const health = toHealth(await this.health.read(ref));
    return { resource: { ...toSubscription(stored), health }, version: stored.version };
  }

  async update(
    target: SubscriptionTarget,
    body: UpdateSubscriptionDto,
    expected: ExpectedVersions,
  ): Promise<Versioned<SubscriptionDto>> {
    await requireAcceptedUrls(this.checkUrl, body);
    const changeOf = this.drafts.changeOf(body);
    const { fleetLimits } = this.config.http;
    const result = await this.subscriptions.update(target, changeOf, this.nowMs(), expected, fleetLimits);
    if (result.type === 'not_found') throw noSuchSubscription();
    if (result.type === 'version_mismatch') throw versionMismatch(result.version);
    if (result.type === 'adds_devices') throw mayNotAddDevices();
    if (result.type === 'limit_reached') throw isWholeFleet(target) ? tooMany(result) : tooManyOfFleet(result);
    if (result.type === 'conflict') throw urlTaken(isSeen(target, result.id) ? result.id : null);
    const isPublished = await this.published.wait(result.outboxIds);
    const isStopping = body.status === 'paused' || body.status === 'disabled';
    if (isStopping && !isPublished) throw notInEffectYet();
    return { resource: toSubscription(result.subscription), version: result.subscription.version };
  }

  async remove(ref: SubscriptionRef, expected: ExpectedVersions): Promise<void> {
    const result = await this.subscriptions.delete(ref, this.nowMs(), expected);
    if (result.type === 'not_found') throw noSuchSubscription();
    if (result.type === 'version_mismatch') throw versionMismatch(result.version);
    await this.published.wait(result.outboxIds);
  }

  rotateSecret(
    target: SubscriptionTarget,
    expected: ExpectedVersions,
    change: MakeChange<Versioned<SubscriptionWithSecretDto>>,
  ): Promise<Versioned<SubscriptionWithSecretDto>> {
    return change(async (stores) => {
      const secret = this.drafts.newSigningSecret();
      const nowMs = this.nowMs();
      const rotation = { sealFor: secret.sealFor, oldSignsUntil: nowMs + REPLACED_SECRET_SIGNS_MS, nowMs };
      const result = await stores.subscriptions.rotateSecret(target, rotation, expected);
      if (result.type === 'not_found') throw noSuchSubscription();
      if (result.type === 'version_mismatch') throw versionMismatch(result.version);
      if (result.type === 'too_many_secrets') throw tooManySecrets(Math.ceil((result.retryAt - nowMs) / 1_000));
      const { subscription, outboxIds } = result;
      return { answer: { resource: withSecret(subscription, secret.shown), version: subscription.version }, outboxIds };
    });
  }

  /** Resolves when the test event is durable; from then on it is delivered like any other. */
  sendTest(ref: SubscriptionRef, change: MakeChange<QueuedTestDto>): Promise<QueuedTestDto> {
    return change(async (stores) => {
      const request = { requestId: this.newId(), nowMs: this.nowMs() };
      const make = (subscription: WebhookSubscription) => testDelivery(subscription, request);
      const result = await stores.subscriptions.sendTest(ref, make, request.nowMs);
      if (result.type === 'not_found') throw noSuchSubscription();
      if (result.type === 'not_active') throw notActive(result.subscription.status);
      return { answer: { eventId: result.delivery.eventId }, outboxIds: [] };
    });
  }
}

/** A portal session hears that the URL is taken, but not by which subscription of its fleet. */
function isSeen(target: SubscriptionTarget, id: string | null): boolean {
  return id !== null && (isWholeFleet(target) || target.within?.includes(id) === true);
}

function isWholeFleet({ within = null }: SubscriptionTarget): boolean {
  return within === null;
}

function withSecret(stored: WebhookSubscription, secret: string): SubscriptionWithSecretDto {
  return { ...toSubscription(stored), secret };
}
