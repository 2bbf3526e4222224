import { receiptIdPattern } from '@tallystick/core';
import type { ComponentChildren, JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { api } from '../../api.ts';
import { ExportButtons } from '../../components/export-buttons.tsx';
import { type Filter, Filters, filtersIn } from '../../components/filters.tsx';
import { ModelName } from '../../components/model-name.tsx';
import { Money } from '../../components/money.tsx';
import { More } from '../../components/more.tsx';
import { Empty, Problem, Skeleton } from '../../components/states.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { TimeSeries } from '../../components/time-series.tsx';
import { count, shortCount } from '../../format/number.ts';
import { useListing } from '../../listing.ts';
import { useLoad } from '../../load.ts';
import { query, setQuery } from '../../router.ts';
import { Proof } from '../activity/proof.tsx';
import { bucketsOf, rangeIn } from '../activity/range.ts';
import { RangePicker } from '../activity/range-picker.tsx';
import type { ListedReceipt, ReceiptCount } from './documents.ts';

const FILTERS: readonly Filter[] = [
  { name: 'profile', label: 'Profile', values: ['nano', 'standard', 'pq', 'metering'] },
  { name: 'purpose', label: 'Purpose' },
  { name: 'model', label: 'Model' },
  { name: 'provider', label: 'Provider' },
  { name: 'status', label: 'Status', values: ['ok', 'error'] },
  { name: 'tag', label: 'Tag' },
  { name: 'min_cost', label: 'Costs at least' },
  { name: 'max_cost', label: 'Costs at most' },
  { name: 'key', label: 'Key' },
  { name: 'did', label: 'DID', takes: (word) => word.startsWith('did:') },
  { name: 'session', label: 'Session' },
  { name: 'receipt_id', label: 'Receipt', takes: (word) => receiptIdPattern.test(word) },
  {
    name: 'request_hash',
    label: 'Request hash',
    takes: (word) => /^(?:sha256:)?[0-9a-f]{64}$/.test(word),
  },
];

/** The receipts of whoever is signed in. */
export function ReceiptList({ lookUp }: { readonly lookUp: ComponentChildren }): JSX.Element {
  const [opened] = useState(() => Math.floor(Date.now() / 1_000));
  const range = useMemo(() => rangeIn(query.value, opened), [query.value, opened]);
  const filters = filtersIn(FILTERS);
  const asked = JSON.stringify([range, filters]);
  const edges = { from: range.from, to: range.to };
  const list = useListing<ListedReceipt>(asked, '/v1/receipts', { ...filters, ...edges });
  const counts = useLoad(asked, async (signal) => {
    const { data } = await api<{ data: readonly ReceiptCount[] }>('/v1/receipts/counts', {
      query: { ...filters, ...edges, bucket: range.bucket },
      signal,
    });
    const byTime = new Map(data.map(({ at, receipts }) => [Date.parse(at) / 1_000, receipts]));
    const times = bucketsOf(range);
    return { times, values: times.map((time) => byTime.get(time) ?? 0) };
  });
  return (
    <>
      <header class="title">
        <h1>Receipts</h1>
        <div class="tools">
          <RangePicker />
          <ExportButtons path="/v1/receipts" name="receipts" query={{ ...filters, ...edges }} />
        </div>
      </header>
      {counts.problem !== null && counts.problem.message !== list.problem?.message && (
        <Problem of={counts.problem} retry={counts.reload} />
      )}
      {counts.value === null ? (
        counts.problem === null && (
          <div class="overview waiting-plot">
            <Skeleton />
          </div>
        )
      ) : (
        <Plot {...counts.value} />
      )}
      {lookUp}
      <Filters filters={FILTERS} placeholder="Filter: profile:…, purpose:…, a DID" />
      {list.problem !== null ? (
        <Problem of={list.problem} retry={list.reload} />
      ) : list.rows.length > 0 ? (
        <Table
          label="Receipts, newest first"
          columns={COLUMNS}
          rows={list.rows}
          keyOf={({ receipt_id }) => receipt_id}
          href={({ receipt_id }) => `/receipts#${receipt_id}`}
          busy={list.busy}
        />
      ) : list.busy ? (
        <Skeleton rows={10} />
      ) : (
        <NoReceipts filtered={Object.keys(filters).length > 0} />
      )}
      <More of={list}>Show older receipts</More>
    </>
  );
}

function Plot({
  times,
  values,
}: {
  readonly times: readonly number[];
  readonly values: readonly number[];
}): JSX.Element {
  const series = useMemo(
    () => [{ label: 'Receipts', values, tone: 'accent', form: 'bars' }] as const,
    [values],
  );
  const total = values.reduce((one, other) => one + other, 0);
  return (
    <section class="overview" aria-label="Receipts over time">
      <p class="total">
        <span>Receipts in this range</span> <b>{count(total)}</b>
      </p>
      <TimeSeries
        label={`Receipts over time: ${count(total)} in this range`}
        times={times}
        series={series}
        format={shortCount}
        whole
        pick={(from, to) => setQuery({ from: String(from), to: String(to), range: null })}
      />
    </section>
  );
}

function NoReceipts({ filtered }: { readonly filtered: boolean }): JSX.Element {
  return filtered ? (
    <Empty title="No receipt matches">
      <p>Take a filter off, or choose a longer range.</p>
    </Empty>
  ) : (
    <Empty title="No receipts in this range">
      <p>
        A receipt that you emit, or that a call of yours gets, is listed here a second later. The{' '}
        <a href="/docs">reference</a> shows how.
      </p>
    </Empty>
  );
}

/** A value that, pressed, becomes a filter. */
function pick(
  name: string,
  value: string | null,
  shown: (value: string) => ComponentChildren = (text) => text,
): JSX.Element {
  if (value === null) return <i class="none">–</i>;
  return (
    <button type="button" class="pick" title={`Only ${value}`} onClick={() => setQuery({ [name]: value })}>
      {shown(value)}
    </button>
  );
}

const COLUMNS: readonly Column<ListedReceipt>[] = [
  { title: 'Time', width: 17, cell: ({ at }) => <Time at={at} /> },
  { title: 'Profile', width: 13, cell: ({ profile }) => pick('profile', profile) },
  { title: 'Purpose', yields: 1, cell: ({ purpose }) => pick('purpose', purpose) },
  { title: 'Model', yields: 2, cell: ({ model }) => pick('model', model, (of) => <ModelName of={of} />) },
  { title: 'Provider', yields: 2, width: 14, cell: ({ provider }) => pick('provider', provider) },
  {
    title: 'Cost',
    width: 16,
    end: true,
    cell: ({ cost_usdc }) => (cost_usdc === null ? <i class="none">–</i> : <Money of={cost_usdc} />),
  },
  {
    title: 'Leaf',
    width: 12,
    end: true,
    yields: 1,
    cell: ({ anchored: { leaf_index } }) =>
      leaf_index === null ? (
        <i class="none">–</i>
      ) : (
        <a href={`/log?from_index=${leaf_index}`}>{count(leaf_index)}</a>
      ),
  },
  {
    title: 'Kept until',
    width: 17,
    end: true,
    yields: 2,
    cell: ({ expires_at }) => <Time at={expires_at} />,
  },
  {
    title: 'Proof',
    width: 10,
    yields: 1,
    end: true,
    cell: ({ receipt_id }) => <Proof receiptId={receipt_id} />,
  },
];
