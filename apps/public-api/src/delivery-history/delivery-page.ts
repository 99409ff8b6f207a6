import type { DeliveryRecord } from '@waypost/domain';

export interface DeliveryPage<Shown = DeliveryRecord> {
  /** In the order of the query. */
  readonly records: readonly Shown[];
  /** null: this is the last page. */
  readonly nextPageState: string | null;
  /** R-33; null: not known. */
  readonly completeUntil: number | null;
}
