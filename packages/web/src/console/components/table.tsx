import { type ComponentChildren, Fragment, type JSX, type RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useShortcuts } from '../frame/shortcuts.ts';
import { left } from '../router.ts';

export interface Column<Row> {
  readonly title: string;
  /** @param titles the titles of the columns that are shown */
  readonly cell: (row: Row, titles: readonly string[]) => ComponentChildren;
  /** Numbers stand at the end. */
  readonly end?: boolean;
  /** A column with this number is left out where the list lacks room. The highest number goes first; of equal ones, the last column does. */
  readonly yields?: number;
  /** Width, in characters of the digit 0; without it, the column takes what the others leave. */
  readonly width?: number;
}

/** The least, in digits, for a column without a width: the name of a model, or half of a hash. */
const LEAST = 20;

/** A list of things. `j` and `k` move between its rows, Enter opens one: a row's first cell links to `href`. */
export function Table<Row>({
  label,
  columns: all,
  rows,
  keyOf,
  href,
  busy = false,
  groupOf,
}: {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** What the row's first cell links to; null if it is no link. */
  readonly href: (row: Row) => string | null;
  readonly busy?: boolean;
  /** Heading of the rows that follow each other and have the same one. */
  readonly groupOf?: (row: Row) => string;
}): JSX.Element {
  const body = useRef<HTMLTableSectionElement>(null);
  const move = (by: number): void => {
    const links = [...(body.current?.querySelectorAll<HTMLElement>('a.row') ?? [])];
    const at = links.findIndex((link) => link === document.activeElement);
    const next = at === -1 ? 0 : Math.min(Math.max(at + by, 0), links.length - 1);
    links[next]?.focus();
    links[next]?.scrollIntoView({ block: 'nearest' });
  };
  useShortcuts({ j: () => move(1), k: () => move(-1) });
  // Back from the thing that a row opened, that row has the focus again, in its place.
  useEffect(() => {
    if (!['BODY', 'MAIN'].includes(document.activeElement?.tagName ?? '')) return;
    const link = [...(body.current?.querySelectorAll<HTMLElement>('a.row') ?? [])].find(
      (link) => link.getAttribute('href') === left,
    );
    link?.focus({ preventScroll: true });
    link?.scrollIntoView({ block: 'center' });
  }, []);
  const table = useRef<HTMLTableElement>(null);
  const room = useRoom(table);
  const columns = fitting(all, room);
  const fixed = columns.filter(({ width }) => width !== undefined);
  // Where even those that never yield are too wide, each is narrower by the same, and one without a width has a third.
  const share =
    widthOf(columns) <= room ? 1 : (room * (fixed.length < columns.length ? 0.66 : 1)) / widthOf(fixed);
  const titles = columns.map(({ title }) => title);
  const classOf = ({ end }: Column<Row>): string => (end ? 'end' : '');
  return (
    <table class="list" ref={table} aria-label={label} aria-busy={busy}>
      <colgroup>
        {columns.map((column) => (
          <col
            key={column.title}
            style={column.width === undefined ? {} : { width: `${column.width * share}ch` }}
          />
        ))}
      </colgroup>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.title} scope="col" class={classOf(column)}>
              {column.title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody ref={body}>
        {rows.map((row, at) => {
          const group = groupOf?.(row);
          const before = rows[at - 1];
          const isFirst = group !== undefined && (before === undefined || groupOf?.(before) !== group);
          return (
            <Fragment key={keyOf(row)}>
              {isFirst && (
                <tr class="group">
                  <th scope="rowgroup" colSpan={columns.length}>
                    {group}
                  </th>
                </tr>
              )}
              <tr>
                {columns.map((column, place) => (
                  <td key={column.title} class={classOf(column)}>
                    <Linked href={place === 0 ? href(row) : null}>{column.cell(row, titles)}</Linked>
                  </td>
                ))}
              </tr>
            </Fragment>
          );
        })}
      </tbody>
    </table>
  );
}

const widthOf = <Row,>(columns: readonly Column<Row>[]): number =>
  columns.reduce((sum, { width = LEAST }) => sum + width, 0);

/** The columns that `room` digits are enough for, in their order. */
function fitting<Row>(columns: readonly Column<Row>[], room: number): readonly Column<Row>[] {
  const most = Math.max(...columns.map(({ yields = 0 }) => yields));
  if (widthOf(columns) <= room || most === 0) return columns;
  const last = columns.findLastIndex(({ yields }) => yields === most);
  return fitting(columns.toSpliced(last, 1), room);
}

/** How many digits of a table fit beside each other in what it stands in. */
function useRoom(table: RefObject<HTMLTableElement | null>): number {
  const [room, setRoom] = useState(Number.POSITIVE_INFINITY);
  useLayoutEffect(() => {
    const { current } = table;
    const around = current?.parentElement;
    if (!current || !around) return;
    const measure = (): void => setRoom(innerWidthOf(around) / digitWidth(current));
    // The observer calls after the first frame, which would show columns that are left out in the next.
    measure();
    const sized = new ResizeObserver(measure);
    sized.observe(around);
    return () => sized.disconnect();
  }, []);
  return room;
}

function innerWidthOf(element: Element): number {
  const { paddingLeft, paddingRight } = getComputedStyle(element);
  return element.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
}

function digitWidth(element: Element): number {
  const drawing = document.createElement('canvas').getContext('2d');
  if (drawing === null) throw new Error('The browser gives no canvas.');
  drawing.font = getComputedStyle(element).font;
  return drawing.measureText('0').width;
}

function Linked({
  href,
  children,
}: {
  readonly href: string | null;
  readonly children: ComponentChildren;
}): JSX.Element {
  return href === null ? (
    <>{children}</>
  ) : (
    <a class="row" href={href}>
      {children}
    </a>
  );
}
