import { type ComponentChildren, Fragment, type JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { useShortcuts } from '../frame/shortcuts.ts';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Numbers stand at the end. */
  readonly end?: boolean;
  /** Narrowest window that shows it: from 640 px, or from 1000 px. All windows show it by default. */
  readonly from?: 'medium' | 'wide';
  /** Width, in characters of the digit 0; without it, the column takes what the others leave. */
  readonly width?: number;
}

/** A list of things. `j` and `k` move between its rows, Enter opens one: a row's first cell links to `href`. */
export function Table<Row>({
  label,
  columns,
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
  // Where no column takes what the others leave, those that all windows show would be wider than a narrow one.
  const always = columns.filter(({ from }) => from === undefined);
  const most = always.every(({ width }) => width !== undefined) ? `${90 / always.length}vw` : '100vw';
  const classOf = ({ end, from }: Column<Row>): string => [end ? 'end' : '', from ?? ''].join(' ').trim();
  return (
    <table class="list" aria-label={label} aria-busy={busy}>
      <colgroup>
        {columns.map((column) => (
          <col
            key={column.title}
            class={column.from ?? ''}
            style={column.width === undefined ? {} : { width: `min(${column.width}ch, ${most})` }}
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
                  <th scope="rowgroup">{group}</th>
                </tr>
              )}
              <tr>
                {columns.map((column, place) => (
                  <td key={column.title} class={classOf(column)}>
                    {place === 0 ? <First href={href(row)}>{column.cell(row)}</First> : column.cell(row)}
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

function First({
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
