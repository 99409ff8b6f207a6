import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import { Link } from 'wouter';
import type { V2Event } from '@waypost/client';
import { Moment } from '../shared/moment.js';
import { StatusBadge } from '../shared/status-badge.js';

const ROW_HEIGHT_PX = 40;
const LOAD_WITHIN_ROWS = 20;

interface DeliveryTableProps {
  readonly rows: readonly V2Event[];
  readonly hasMore: boolean;
  readonly loadMore: () => void;
}

/** Draws only the rows in sight, so that a million of them scroll like a hundred. */
export function DeliveryTable({ rows, hasMore, loadMore }: DeliveryTableProps) {
  const table = useRef<HTMLDivElement>(null);
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW_HEIGHT_PX,
    overscan: 10,
    scrollMargin: table.current?.offsetTop ?? 0,
  });
  const items = virtualizer.getVirtualItems();
  const lastIndex = items.at(-1)?.index ?? 0;

  useEffect(() => {
    if (hasMore && lastIndex >= rows.length - LOAD_WITHIN_ROWS) loadMore();
  }, [hasMore, lastIndex, rows.length, loadMore]);

  return (
    <div role="table" aria-label="Deliveries" aria-rowcount={hasMore ? -1 : rows.length} className="table" ref={table}>
      <div role="row" className="row head">
        {['First attempt', 'Status', 'Event', 'Device', 'Code', 'Attempts'].map((title) => (
          <span role="columnheader" key={title}>
            {title}
          </span>
        ))}
      </div>
      <div role="rowgroup" className="rows" style={{ height: virtualizer.getTotalSize() }}>
        {items.map(({ index, start }) => {
          const row = rows[index];
          if (!row) return null;
          const top = start - virtualizer.options.scrollMargin;
          return <Row key={keyOf(row)} row={row} index={index} top={top} />;
        })}
      </div>
    </div>
  );
}

function Row({ row, index, top }: { readonly row: V2Event; readonly index: number; readonly top: number }) {
  const { eventId, eventType, deviceId, delivery } = row;
  return (
    <div role="row" aria-rowindex={index + 2} className="row" style={{ transform: `translateY(${String(top)}px)` }}>
      <span role="cell">
        <Link href={`/deliveries/${eventId}`}>
          <Moment iso={delivery.firstAttemptAt} />
        </Link>
      </span>
      <span role="cell">
        <StatusBadge status={delivery.status} />
      </span>
      <span role="cell">
        {eventType}
        {delivery.series > 0 && <span className="hint"> replayed</span>}
      </span>
      <span role="cell" className="text">
        {deviceId}
      </span>
      <span role="cell">{delivery.statusCode ?? '-'}</span>
      <span role="cell">{delivery.attemptCount}</span>
    </div>
  );
}

function keyOf({ eventId, subscriptionId, delivery }: V2Event): string {
  return `${eventId} ${subscriptionId} ${String(delivery.series)}`;
}
