import { Inject, Injectable } from '@nestjs/common';
import { clampWindow, type WebhookSubscription } from '@waypost/domain';
import { ResendableDeliveries } from '@waypost/history-store';
import { ReplayStore, type SubscriptionRef, SubscriptionStore } from '@waypost/management-store';
import { CLOCK, CONFIG, NEW_ID } from '@waypost/platform';
import type { PublicApiConfig } from '../config.js';
import { tooManyOfFleet } from '../errors/limit-reached.js';
import type { MakeChange } from '../idempotency/idempotent-requests.js';
import { PublishedChanges } from '../outbox/published-changes.js';
import { type ListPage, ListPagesService, upTo } from '../paging/list-pages.service.js';
import type { ListQueryDto } from '../paging/paging.dto.js';
import { noSuchSubscription, notActive } from '../subscriptions/subscriptions.errors.js';
import {
  type CreateReplayDto,
  MOST_COUNTED,
  MOST_LOOKED_UP,
  MOST_READ,
  type ReplayDto,
  type ResendableDto,
  type ResendableQueryDto,
  toReplay,
} from './replays.dto.js';
import { noSuchReplay, tooManyReplays, windowExpired } from './replays.errors.js';

/** What a request for a replay selects; `eventId` keeps it to one event. */
export type ReplaySelection = CreateReplayDto & { readonly eventId?: string };

/** Replays of one subscription. @throws ApiError for every refusal */
@Injectable()
export class ReplaysService {
  constructor(
    private readonly subscriptions: SubscriptionStore,
    private readonly replays: ReplayStore,
    private readonly resendable: ResendableDeliveries,
    private readonly published: PublishedChanges,
    private readonly pages: ListPagesService,
    @Inject(NEW_ID) private readonly newId: () => string,
    @Inject(CLOCK) private readonly nowMs: () => number,
    @Inject(CONFIG) private readonly config: Pick<PublicApiConfig, 'http'>,
  ) {}

  async create(ref: SubscriptionRef, body: ReplaySelection, change: MakeChange<ReplayDto>): Promise<ReplayDto> {
    const { status } = await this.requireSubscription(ref);
    if (status !== 'active') throw notActive(status);
    const nowMs = this.nowMs();
    const window = clampWindow({ startAt: body.startDate, endAt: body.endDate }, nowMs);
    if (window.type !== 'window') throw windowExpired();
    const replay = {
      replayId: this.newId(),
      startDate: window.startAt,
      endDate: window.endAt,
      status: body.status ?? null,
      statusCode: body.statusCode ?? null,
      eventType: body.eventType ?? null,
      deviceId: body.deviceId ?? null,
      eventId: body.eventId ?? null,
      ratePerSecond: body.ratePerSecond,
    };
    return change(async (stores) => {
      const result = await stores.replays.create(ref, replay, nowMs, this.config.http.fleetLimits);
      if (result.type === 'not_found') throw noSuchSubscription();
      if (result.type === 'too_many') throw tooManyReplays();
      if (result.type === 'limit_reached') throw tooManyOfFleet(result);
      return { answer: toReplay(result.stored), outboxIds: result.outboxIds };
    });
  }

  /** What a replay would send; none of it need be left when one begins. */
  async countResendable(ref: SubscriptionRef, query: ResendableQueryDto): Promise<ResendableDto> {
    const { eventType: ownType } = await this.requireSubscription(ref);
    const { startDate, endDate, eventType = ownType, ...filters } = query;
    const window = clampWindow({ startAt: startDate, endAt: endDate }, this.nowMs());
    // A subscription has one type.
    if (window.type !== 'window' || eventType !== ownType) return { deliveries: 0, hasMore: false };
    const { startAt, endAt } = window;
    return this.resendable.count({
      ...filters,
      fleetId: ref.fleetId,
      subscriptionId: ref.id,
      startAt,
      endAt,
      replayedFrom: await this.replays.firstCreatedAt(ref),
      most: MOST_COUNTED,
      mostRead: MOST_READ,
      mostLookedUp: MOST_LOOKED_UP,
    });
  }

  /** Newest first: the series alone is the position of a replay. */
  async list(ref: SubscriptionRef, query: ListQueryDto): Promise<ListPage<ReplayDto>> {
    const path = '/public/v1/webhook-subscriptions/:id/replays';
    const walk = { fleetId: ref.fleetId, path, filters: { subscriptionId: ref.id } };
    return this.pages.read(walk, query, {
      find: async (most, beforeSeries: number | null) => {
        await this.requireSubscription(ref);
        return upTo(most, async (limit) => (await this.replays.list({ ref, limit, beforeSeries })).map(toReplay));
      },
      positionOf: ({ series }) => series,
    });
  }

  async get(ref: SubscriptionRef, replayId: string): Promise<ReplayDto> {
    await this.requireSubscription(ref);
    const stored = await this.replays.get(ref, replayId);
    if (stored === null) throw noSuchReplay();
    return toReplay(stored);
  }

  /** Repeating it, or cancelling a finished replay, changes nothing. */
  async cancel(ref: SubscriptionRef, replayId: string): Promise<ReplayDto> {
    await this.requireSubscription(ref);
    const result = await this.replays.cancel(ref, replayId, this.nowMs());
    if (result.type === 'not_found') throw noSuchReplay();
    if (result.type === 'changed') await this.published.wait(result.outboxIds);
    return toReplay(result.stored);
  }

  private async requireSubscription(ref: SubscriptionRef): Promise<WebhookSubscription> {
    const subscription = await this.subscriptions.get(ref);
    if (subscription === null) throw noSuchSubscription();
    return subscription;
  }
}
