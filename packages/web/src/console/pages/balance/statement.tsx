import { receiptIdPattern } from '@tallystick/core';
import type { JSX } from 'preact';
import { ExportButtons } from '../../components/export-buttons.tsx';
import { ModelName } from '../../components/model-name.tsx';
import { Funds, Money } from '../../components/money.tsx';
import { More } from '../../components/more.tsx';
import { Empty, Problem, Skeleton } from '../../components/states.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { shortMoney, sumMoney } from '../../format/money.ts';
import { counted } from '../../format/number.ts';
import { useListing } from '../../listing.ts';
import { query } from '../../router.ts';
import { DayPicker, daysIn, period } from './days.tsx';
import type { Entry } from './documents.ts';

/** The entries of the account by day, newest first. @param turn changes when they are to be read again */
export function Statement({ turn }: { readonly turn: number }): JSX.Element {
  const days = period(daysIn(query.value));
  const list = useListing<Entry>(JSON.stringify([days, turn]), '/v1/balance/entries', days);
  if (list.problem?.code === 'key_cannot_manage')
    return (
      <Empty title="This key may not read the statement">
        <p>
          It makes calls, which are <a href="/activity">in the list of calls</a>. The account’s own key, the
          DID that owns the account, and keys that may manage keys read the statement.
        </p>
      </Empty>
    );
  const titles = dayTitles(list.rows, list.more === null);
  return (
    <>
      <div class="toolbar">
        <DayPicker />
        <ExportButtons path="/v1/balance/entries" name="statement" query={days} />
      </div>
      {list.problem !== null ? (
        <Problem of={list.problem} retry={list.reload} />
      ) : list.rows.length > 0 ? (
        <Table
          label="Entries, newest first"
          columns={COLUMNS}
          rows={list.rows}
          keyOf={({ line }) => String(line)}
          href={({ id }) => (receiptIdPattern.test(id) ? `/receipts#${id}` : null)}
          groupOf={({ at }) => titles.get(at.slice(0, 10)) ?? ''}
          busy={list.busy}
        />
      ) : list.busy ? (
        <Skeleton rows={8} />
      ) : days.from === null && days.to === null ? (
        <Empty title="Nothing came in or went out yet">
          <p>Top up, and make a call: each is an entry here, with what is left after it.</p>
        </Empty>
      ) : (
        <Empty title="No entries on these days">
          <p>Choose other days.</p>
        </Empty>
      )}
      <More of={list}>Show older entries</More>
    </>
  );
}

const clock = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZone: 'UTC',
});

const COLUMNS: readonly Column<Entry>[] = [
  {
    title: 'Time, UTC',
    width: 14,
    cell: ({ at }) => (
      <time dateTime={at} title={at}>
        {clock.format(new Date(at))}
      </time>
    ),
  },
  {
    title: 'For',
    // The memo of a call is the name of its model.
    cell: ({ id, memo }) => (
      <span title={memo}>{receiptIdPattern.test(id) ? <ModelName of={memo} /> : memo}</span>
    ),
  },
  { title: 'Id', yields: 2, cell: ({ id }) => <code title={id}>{id}</code> },
  {
    title: 'Amount',
    width: 16,
    end: true,
    cell: ({ amount_usdc: amount }) => (
      <span class={amount.startsWith('-') ? '' : 'in'}>
        {amount.startsWith('-') ? '' : '+'}
        <Money of={amount} />
      </span>
    ),
  },
  {
    title: 'Balance',
    width: 16,
    end: true,
    yields: 1,
    cell: ({ balance_usdc: balance }) => <Funds of={balance} />,
  },
];

const dayName = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
});

/** Headings of the days, with their sums, by day. @param isWhole whether the last day has all its entries */
function dayTitles(entries: readonly Entry[], isWhole: boolean): ReadonlyMap<string, string> {
  const titles = new Map<string, string>();
  const byDay = Map.groupBy(entries, ({ at }) => at.slice(0, 10));
  const last = entries.at(-1)?.at.slice(0, 10);
  for (const [day, members] of byDay) {
    const name = dayName.format(new Date(day));
    if (day === last && !isWhole) titles.set(day, name);
    else titles.set(day, `${name} · ${sumsOf(members)}`);
  }
  return titles;
}

function sumsOf(entries: readonly Entry[]): string {
  const [into, out] = [false, true].map((negative) =>
    entries.map(({ amount_usdc: amount }) => amount).filter((amount) => amount.startsWith('-') === negative),
  );
  const sum = (amounts: readonly string[] | undefined, sign: string): string[] =>
    amounts === undefined || amounts.length === 0 ? [] : [sign + shortMoney(sumMoney(amounts))];
  const entriesOf = counted(entries.length, 'entry', 'entries');
  return [entriesOf, ...sum(into, '+'), ...sum(out, '')].join(' · ');
}
