import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { causeOf, FoundState } from '../../components/state.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { count, counted, duration, percent } from '../../format/number.ts';
import type { Model, Overview, Provider } from './documents.ts';
import { type Order, OrderDialog } from './order.tsx';

type Row = (Provider | Model) & { readonly kind: Order['kind'] };

/** Providers and models, which can be given a rest and resumed. @param reload reads the overview again */
export function Models({ of, reload }: { readonly of: Overview; readonly reload: () => void }): JSX.Element {
  const [order, setOrder] = useState<Order | null>(null);
  const [all, setAll] = useState(false);
  const providers = of.providers.map((row): Row => ({ ...row, kind: 'provider' }));
  const models = of.models.map((row): Row => ({ ...row, kind: 'model' }));
  const shown = all ? models : models.filter(isOfInterest);
  const columns = columnsFor(setOrder);
  return (
    <section class="block" aria-labelledby="providers">
      <h2 id="providers">Providers and models</h2>
      <p class="fine">
        State and errors are those of the last five minutes at the process that answers. The first byte is the
        median over all processes.
      </p>
      <Table label="Providers" columns={columns} rows={providers} keyOf={keyOf} href={() => null} />
      <h3>{all ? 'All models' : 'Models that were called, rest, or need attention'}</h3>
      {shown.length === 0 ? (
        <p class="fine">None of the {count(models.length)} models.</p>
      ) : (
        <Table label="Models" columns={columns} rows={shown} keyOf={keyOf} href={() => null} />
      )}
      {shown.length < models.length && (
        <button type="button" class="more" onClick={() => setAll(true)}>
          Show all {count(models.length)} models
        </button>
      )}
      {order !== null && <OrderDialog order={order} close={() => setOrder(null)} done={reload} />}
    </section>
  );
}

const keyOf = ({ id }: Row): string => id;

const isOfInterest = (row: Row): boolean =>
  row.calls > 0 || row.rest !== null || row.state !== 'unknown' || ('warning' in row && row.warning !== null);

function columnsFor(choose: (order: Order) => void): readonly Column<Row>[] {
  return [
    { title: 'Name', cell: nameOf },
    { title: 'State', width: 27, yields: 1, cell: (row) => <FoundState of={row} /> },
    { title: 'Since', width: 17, yields: 4, cell: ({ since }) => shown(since, (at) => <Time at={at} />) },
    {
      title: 'Rests until',
      width: 24,
      yields: 2,
      cell: ({ rest }) =>
        shown(rest, ({ until, by }) => (
          <>
            <Time at={until} /> <small>{by === 'operator' ? 'by order' : 'after failures'}</small>
          </>
        )),
    },
    { title: 'Calls', width: 9, end: true, yields: 2, cell: ({ calls }) => count(calls) },
    {
      title: 'Errors',
      width: 10,
      end: true,
      yields: 1,
      cell: ({ error_rate }) => shown(error_rate, percent),
    },
    {
      title: 'First byte',
      width: 11,
      end: true,
      yields: 3,
      cell: ({ first_byte_ms }) => shown(first_byte_ms, duration),
    },
    {
      title: 'Action',
      width: 19,
      end: true,
      cell: (row) => ordersFor(row).map((order) => <OrderButton key={order.does} {...{ order, choose }} />),
    },
  ];
}

/** What can be ordered: a provider of which some models rest can be resumed, and be given a rest as a whole. */
function ordersFor(row: Row): Order[] {
  const { kind, id } = row;
  const [models, resting] = 'models' in row ? [row.models, row.resting] : [1, row.rest === null ? 0 : 1];
  const orders: Order[] = [];
  if (resting < models) orders.push({ does: 'rest', kind, id, models });
  if (resting > 0) orders.push({ does: 'resume', kind, id, models });
  return orders;
}

function OrderButton({
  order,
  choose,
}: {
  readonly order: Order;
  readonly choose: (order: Order) => void;
}): JSX.Element {
  const { does, id } = order;
  return (
    <button
      type="button"
      class="small"
      aria-label={`${does === 'rest' ? 'Give a rest to' : 'Resume'} ${id}`}
      onClick={() => choose(order)}
    >
      {does === 'rest' ? 'Rest…' : 'Resume…'}
    </button>
  );
}

function nameOf(row: Row, titles: readonly string[]): JSX.Element {
  return (
    <>
      <span title={row.id}>{row.id}</span>
      {'models' in row && (
        <small>
          {' '}
          {row.resting > 0 ? `${row.resting} of ${row.models} rest` : counted(row.models, 'model')}
        </small>
      )}
      {'warning' in row && row.warning !== null && <small> {causeOf(row.warning)}</small>}
      {!titles.includes('State') && (
        <div>
          <FoundState of={row} />
        </div>
      )}
    </>
  );
}

function shown<T>(value: T | null, draw: (value: T) => ComponentChildren): ComponentChildren {
  return value === null ? <i class="none">–</i> : draw(value);
}
