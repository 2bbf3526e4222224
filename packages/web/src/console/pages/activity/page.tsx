import { receiptIdPattern } from '@tallystick/core';
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { api } from '../../api.ts';
import { ExportButtons } from '../../components/export-buttons.tsx';
import { type Filter, Filters, filtersIn } from '../../components/filters.tsx';
import { More } from '../../components/more.tsx';
import { SignInFirst } from '../../components/sign-in-first.tsx';
import { Empty, Problem, Skeleton } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { identity } from '../../identity/identity.ts';
import { useListing } from '../../listing.ts';
import { useLoad } from '../../load.ts';
import { query } from '../../router.ts';
import { Breakdown } from './breakdown.tsx';
import type { Call, CountsAnswer } from './documents.ts';
import { CallList } from './list.tsx';
import { summarize } from './metrics.ts';
import { Overview } from './overview.tsx';
import { type Range, rangeBefore, rangeIn } from './range.ts';
import { RangePicker } from './range-picker.tsx';
import { KEPT, useTail } from './tail.ts';

const title = 'Calls';

const FILTERS: readonly Filter[] = [
  { name: 'model', label: 'Model' },
  { name: 'provider', label: 'Provider' },
  { name: 'status', label: 'Status', values: ['ok', 'error', '429', '502', '503'] },
  { name: 'error_code', label: 'Error' },
  { name: 'key', label: 'Key' },
  { name: 'did', label: 'DID', takes: (word) => word.startsWith('did:') },
  { name: 'session', label: 'Session' },
  { name: 'tag', label: 'Tag' },
  { name: 'min_cost', label: 'Costs at least' },
  { name: 'max_cost', label: 'Costs at most' },
  { name: 'receipt_id', label: 'Receipt', takes: (word) => receiptIdPattern.test(word) },
  { name: 'request_hash', label: 'Request hash', takes: (word) => /^[0-9a-f]{64}$/.test(word) },
];

/** What was called, what it cost, and what proves it. */
export function Page(): JSX.Element {
  const [live, setLive] = useState(false);
  const [opened] = useState(() => Math.floor(Date.now() / 1_000));
  const range = useMemo(() => rangeIn(query.value, opened), [query.value, opened]);
  const filters = filtersIn(FILTERS);
  const asked = JSON.stringify([range, filters]);

  const counts = useLoad(asked, async (signal) => {
    const before = rangeBefore(range);
    const [rows, rowsBefore] = await Promise.all([
      countsOf(range, filters, signal),
      countsOf(before, filters, signal),
    ]);
    return {
      now: summarize(rows.data, range),
      before: summarize(rowsBefore.data, before),
      countedFrom: rows.counted_from ?? rowsBefore.counted_from,
    };
  });
  const list = useListing<Call>(asked, '/v1/compute/calls', { ...filters, ...edges(range) });
  const tail = useTail({
    on: live && (list.rows.length > 0 || !list.busy),
    filters,
    rows: list.rows,
    from: range.from,
    refused: () => setLive(false),
  });
  const seen = new Set(tail.calls.map(({ id }) => id));
  const calls = [...tail.calls, ...list.rows.filter(({ id }) => !seen.has(id))];

  if (list.problem?.status === 401 && identity.value === null) {
    return (
      <>
        <h1>{title}</h1>
        <SignInFirst title="Sign in to see your calls">
          Every call of your key or your DID is listed here, with its cost and its signed receipt.
        </SignInFirst>
      </>
    );
  }
  return (
    <>
      <header class="title">
        <h1>{title}</h1>
        <div class="tools">
          <RangePicker />
          <button
            type="button"
            aria-pressed={live}
            class="live"
            data-state={tail.state}
            onClick={() => setLive(!live)}
          >
            Live
          </button>
          <ExportButtons path="/v1/compute/calls" name="calls" query={{ ...filters, ...edges(range) }} />
        </div>
      </header>
      {counts.problem !== null && <Problem of={counts.problem} retry={counts.reload} />}
      {counts.value === null ? (
        counts.problem === null && (
          <div class="overview waiting">
            <Skeleton />
          </div>
        )
      ) : (
        <>
          <Overview now={counts.value.now} before={counts.value.before} />
          {counts.value.countedFrom !== null && (
            <p class="fine">
              With this filter there are too many calls to count them all: those since{' '}
              <Time at={counts.value.countedFrom} /> are counted.
            </p>
          )}
        </>
      )}
      <Breakdown range={range} filters={filters} />
      <Filters filters={FILTERS} />
      {tail.problem !== null && <Problem of={tail.problem} />}
      <p class="fine" role="status">
        {tail.state === 'waiting' &&
          'Not live: the connection was lost. It is made again by itself, and calls that came in meanwhile are added then. '}
        {tail.cut &&
          `Of the calls that came in, the newest ${KEPT} are shown. Load the page again for the others.`}
      </p>
      {list.problem !== null ? (
        <Problem of={list.problem} retry={list.reload} />
      ) : calls.length > 0 ? (
        <CallList calls={calls} busy={list.busy} />
      ) : list.busy ? (
        <Skeleton rows={10} />
      ) : (
        <NoCalls filtered={Object.keys(filters).length > 0} />
      )}
      <More of={list}>Show older calls</More>
    </>
  );
}

function NoCalls({ filtered }: { readonly filtered: boolean }): JSX.Element {
  const as =
    identity.value === null
      ? 'without a key'
      : identity.value.way === 'did'
        ? 'as this DID'
        : 'with this key';
  return filtered ? (
    <Empty title="No call matches">
      <p>Take a filter off, or choose a longer range.</p>
    </Empty>
  ) : (
    <Empty title="No calls in this range">
      <p>
        Send one to <code>/v1/compute/chat/completions</code> {as}, and it is listed here a second later. The{' '}
        <a href="/docs">reference</a> shows how.
      </p>
    </Empty>
  );
}

const edges = ({ from, to }: Range): { from: number; to: number } => ({ from, to });

async function countsOf(
  range: Range,
  filters: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<CountsAnswer> {
  const query = { ...filters, ...edges(range), bucket: range.bucket, by: 'none' };
  return api<CountsAnswer>('/v1/compute/calls/counts', { query, signal });
}
