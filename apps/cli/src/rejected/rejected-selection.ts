import { usageError } from '../terminal/output.js';

/** Which quarantined records are meant; an empty part does not restrict. */
export interface RejectedSelection {
  /** `partition:offset` in telemetry.rejected. */
  readonly ids: readonly string[];
  /** The topic that the record was read from. */
  readonly topic: string | null;
  readonly reason: string | null;
  readonly device: string | null;
  readonly from: number | null;
  readonly to: number | null;
}

interface SelectableRecord {
  readonly id: string;
  readonly telemetry: { readonly sourceTopic: string; readonly reason: string; readonly sourceKey: Buffer | null };
}

const idShape = /^\d+:\d+$/;

export function rejectedIdOf(record: { readonly partition: number; readonly offset: number }): string {
  return `${String(record.partition)}:${String(record.offset)}`;
}

export function isWanted(
  { id, telemetry }: SelectableRecord,
  { ids, topic, reason, device }: RejectedSelection,
): boolean {
  if (ids.length > 0 && !ids.includes(id)) return false;
  if (topic !== null && telemetry.sourceTopic !== topic) return false;
  if (reason !== null && telemetry.reason !== reason) return false;
  return device === null || telemetry.sourceKey?.toString('utf8') === device;
}

/** Re-publishing everything must be said: it is easily too much. */
export function assertSelective(selection: RejectedSelection, all: boolean): RejectedSelection {
  const badId = selection.ids.find((id) => !idShape.test(id));
  if (badId !== undefined) throw usageError(`"${badId}" is not an id of the form partition:offset.`);
  const { ids, topic, reason, device, from, to } = selection;
  const restricted = ids.length > 0 || [topic, reason, device, from, to].some((part) => part !== null);
  if (restricted === all) {
    throw usageError(
      all
        ? 'Use --all or a selection, not both.'
        : 'Select records: ids, --topic, --reason, --device, --from, --to or --all.',
    );
  }
  return selection;
}
