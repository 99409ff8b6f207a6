import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { memo, type ReactNode, useEffect, useRef } from 'react';
import { elementKeys } from './element-keys.js';
import { changeEntry, readEntry } from './history-entry.js';

const ROW_HEIGHT_PX = 40;
const LOAD_WITHIN_ROWS = 20;

interface VirtualRowsProps<Item> {
  readonly label: string;
  /** Names the columns in the style sheet. */
  readonly className: string;
  readonly titles: readonly string[];
  readonly rows: readonly Item[];
  readonly keyOf: (item: Item) => string;
  /** One `role="cell"` per title. The same function until it would draw something else: a row that stays is not drawn again. */
  readonly cells: (item: Item) => ReactNode;
  readonly more?: { readonly load: () => void };
}

/**
 * Draws only the rows in sight, so that fifty thousand of them scroll like a hundred. More than 400,000 would be higher than
 * browsers can draw.
 */
export function VirtualRows<Item>(props: VirtualRowsProps<Item>) {
  const { label, className, titles, rows, keyOf, cells, more } = props;
  const table = useRef<HTMLDivElement>(null);
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW_HEIGHT_PX,
    overscan: 10,
    scrollMargin: table.current?.offsetTop ?? 0,
    initialOffset: () => readEntry().scrollY ?? 0,
  });
  const items = virtualizer.getVirtualItems();
  const lastIndex = items.at(-1)?.index ?? 0;
  const drawn = items.flatMap(({ index, start }) => {
    const row = rows[index];
    return row === undefined ? [] : [{ row, id: keyOf(row), index, top: start - virtualizer.options.scrollMargin }];
  });
  const elements = useRef<ReadonlyMap<string, number>>(new Map());
  // Written while drawing, which may be repeated: the same rows get the same elements again.
  elements.current = elementKeys(
    elements.current,
    drawn.map(({ id }) => id),
  );

  useEffect(() => {
    if (more && lastIndex >= rows.length - LOAD_WITHIN_ROWS) more.load();
  }, [more, lastIndex, rows.length]);

  return (
    <div
      role="table"
      aria-label={label}
      aria-rowcount={more ? -1 : rows.length + 1}
      className={`table ${className}`}
      ref={table}
    >
      <div role="row" aria-rowindex={1} className="row head">
        {titles.map((title) => (
          <span role="columnheader" key={title}>
            {title}
          </span>
        ))}
      </div>
      <div role="rowgroup" className="rows" style={{ height: virtualizer.getTotalSize() }}>
        {drawn.map((one) => (
          <Row key={elements.current.get(one.id)} cells={cells} {...one} />
        ))}
      </div>
    </div>
  );
}

interface CellsProps<Item> {
  readonly row: Item;
  readonly cells: (item: Item) => ReactNode;
}

interface RowProps<Item> extends CellsProps<Item> {
  readonly id: string;
  readonly index: number;
  readonly top: number;
}

const Row = memo(PlainRow) as typeof PlainRow;
const Cells = memo(PlainCells) as typeof PlainCells;

function PlainRow<Item>({ id, index, top, row, cells }: RowProps<Item>) {
  const element = useRef<HTMLDivElement>(null);

  // Back from the page that this row has opened, the keyboard continues here.
  useEffect(() => {
    if (readEntry().row !== id) return;
    element.current?.querySelector('a')?.focus({ preventScroll: true });
    changeEntry({ row: '' });
  }, [id]);

  // The focus was on the row before, which is gone.
  useEffect(() => {
    const shown = element.current;
    return () => {
      if (shown?.contains(document.activeElement)) (document.activeElement as HTMLElement).blur();
    };
  }, [id]);

  return (
    <div
      ref={element}
      role="row"
      aria-rowindex={index + 2}
      data-row=""
      className="row"
      style={{ transform: `translateY(${String(top)}px)` }}
      // Before the link is followed: then the entry is that of another page.
      onClickCapture={() => changeEntry({ row: id })}
    >
      <Cells row={row} cells={cells} />
    </div>
  );
}

function PlainCells<Item>({ row, cells }: CellsProps<Item>) {
  return cells(row);
}
