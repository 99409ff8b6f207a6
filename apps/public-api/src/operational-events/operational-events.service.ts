import { Injectable } from '@nestjs/common';
import {
  type OperationalEventPosition,
  OperationalEventStore,
  type SubscriptionRef,
  SubscriptionStore,
} from '@waypost/management-store';
import { type ListPage, ListPagesService, upTo } from '../paging/list-pages.service.js';
import type { ListQueryDto } from '../paging/paging.dto.js';
import { noSuchSubscription } from '../subscriptions/subscriptions.errors.js';
import { type OperationalEventDto, toOperationalEvent } from './operational-events.dto.js';

/** What happened to the deliveries of one subscription, newest first. */
@Injectable()
export class OperationalEventsService {
  constructor(
    private readonly subscriptions: SubscriptionStore,
    private readonly events: OperationalEventStore,
    private readonly pages: ListPagesService,
  ) {}

  async list(ref: SubscriptionRef, query: ListQueryDto): Promise<ListPage<OperationalEventDto>> {
    const path = '/public/v1/webhook-subscriptions/:id/operations';
    const walk = { fleetId: ref.fleetId, path, filters: { subscriptionId: ref.id } };
    const page = await this.pages.read(walk, query, {
      find: async (most, before: OperationalEventPosition | null) => {
        if ((await this.subscriptions.get(ref)) === null) throw noSuchSubscription();
        return upTo(most, (limit) => this.events.list({ fleetId: ref.fleetId, subscriptionId: ref.id, limit, before }));
      },
      positionOf: ({ occurredAt, id }) => ({ occurredAt, id }),
    });
    return { ...page, data: page.data.map(toOperationalEvent) };
  }
}
