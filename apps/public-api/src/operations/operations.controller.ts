import { Controller, Get, Inject, Param, Req, UseGuards } from '@nestjs/common';
import type { DeliveryPosition } from '@waypost/domain';
import type { ManagementStore, OperationalEventPosition } from '@waypost/management-store';
import type { Request } from 'express';
import { ApiKeyGuard, RequireScope } from '../auth/api-key.guard.js';
import { type Caller, CurrentCaller } from '../auth/caller.js';
import { MANAGEMENT_STORE, PAGE_STATES } from '../dependencies.js';
import type { PageStates } from '../page-state/page-states.js';
import { readListPaging } from '../page-state/paging.js';
import { noSuchSubscription } from '../subscriptions/subscription-refusals.js';
import { refOf } from '../subscriptions/subscription-request.js';
import { type OperationResource, toOperationResource } from './operation-resource.js';

const PATH = '/public/v1/webhook-subscriptions/:id/operations';

/** What happened to the deliveries of one subscription of the caller's fleet, newest first. */
@Controller(PATH)
@UseGuards(ApiKeyGuard)
export class OperationsController {
  constructor(
    @Inject(MANAGEMENT_STORE) private readonly store: Pick<ManagementStore, 'subscriptions' | 'operations'>,
    @Inject(PAGE_STATES) private readonly pageStates: PageStates,
  ) {}

  @Get()
  @RequireScope('subscriptions:read')
  async list(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Param('id') id: string,
  ): Promise<{ data: OperationResource[]; nextPageState: string | null }> {
    const { limit, pageState } = readListPaging(request);
    const ref = refOf(caller, id);
    const walk = { fleetId: ref.fleetId, path: PATH, filters: { subscriptionId: ref.id } };
    const before = pageState === undefined ? null : operationPosition(this.pageStates.open(pageState, walk));
    if ((await this.store.subscriptions.get(ref)) === null) throw noSuchSubscription();
    const wanted = { fleetId: ref.fleetId, subscriptionId: ref.id, limit: limit + 1, before };
    const found = await this.store.operations.list(wanted);
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    const nextPageState = last === undefined ? null : this.pageStates.seal(tokenPosition(last), walk);
    return { data: page.map(toOperationResource), nextPageState };
  }
}

/** Page tokens speak of deliveries; the place of an operation has the same shape. */
function tokenPosition({ occurredAt, id }: OperationalEventPosition): DeliveryPosition {
  return { firstAttemptAt: occurredAt, eventId: id, series: 0 };
}

function operationPosition({ firstAttemptAt, eventId }: DeliveryPosition): OperationalEventPosition {
  return { occurredAt: firstAttemptAt, id: eventId };
}
