import { Inject, Injectable } from '@nestjs/common';
import { FleetStore, SubscriptionStore } from '@waypost/management-store';
import { CLOCK } from '@waypost/platform';
import { ApiError, invalidBody, notFound } from '../errors/api-error.js';
import type { MakeChange } from '../idempotency/idempotent-requests.js';
import { ListPagesService, upTo } from '../paging/list-pages.service.js';
import type { ListQueryDto } from '../paging/paging.dto.js';
import { type CreateFleetDto, type FleetDto, type FleetPageDto, toFleet } from './fleets.dto.js';

/** No fleet: what is walked belongs to none. */
const WALK = { fleetId: '', path: '/public/v1/fleets', filters: {} };

/** All fleets, for operators. @throws ApiError for every refusal */
@Injectable()
export class FleetsService {
  constructor(
    private readonly fleets: FleetStore,
    private readonly subscriptions: SubscriptionStore,
    private readonly pages: ListPagesService,
    @Inject(CLOCK) private readonly nowMs: () => number,
  ) {}

  create({ fleetId, name, payloadFormat, routes }: CreateFleetDto, change: MakeChange<FleetDto>): Promise<FleetDto> {
    return change(async (stores) => {
      const fleet = { fleetId, name: name ?? null, payloadFormat, routes };
      const created = await stores.fleets.create({ ...fleet, nowMs: this.nowMs() });
      if (created.type === 'invalid') {
        const message = 'must be 1 to 128 of A-Z a-z 0-9 . _ - with a letter or digit first';
        throw invalidBody([{ field: 'fleetId', message }]);
      }
      if (created.type === 'exists') throw new ApiError(409, 'conflict', 'There is already a fleet with this id.');
      return { answer: toFleet(created.fleet), outboxIds: created.outboxIds };
    });
  }

  async get(fleetId: string): Promise<FleetDto> {
    const found = await this.fleets.find(fleetId);
    if (found === null) throw notFound('There is no such fleet.');
    return toFleet(found);
  }

  async list(query: ListQueryDto): Promise<FleetPageDto> {
    const page = await this.pages.read(WALK, query, {
      find: (most, after: string | null) => upTo(most, (limit) => this.fleets.list({ limit, after })),
      positionOf: ({ fleetId }) => fleetId,
    });
    const totals = query.pageState === undefined ? { totals: await this.totals() } : {};
    return { data: page.data.map(toFleet), nextPageState: page.nextPageState, ...totals };
  }

  private async totals(): Promise<{ fleets: number; subscriptions: number }> {
    const [fleets, subscriptions] = await Promise.all([this.fleets.count(), this.subscriptions.countAll()]);
    return { fleets, subscriptions };
  }
}
