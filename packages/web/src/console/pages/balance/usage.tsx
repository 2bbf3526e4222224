import type { JSX } from 'preact';
import { api } from '../../api.ts';
import { Icon } from '../../components/icon.tsx';
import { ModelName } from '../../components/model-name.tsx';
import { Money } from '../../components/money.tsx';
import { Empty, Problem, Skeleton } from '../../components/states.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { count, counted } from '../../format/number.ts';
import { identity } from '../../identity/identity.ts';
import { useLoad } from '../../load.ts';
import { query } from '../../router.ts';
import { DayPicker, type Days, daysIn } from './days.tsx';
import type { CompressionStats, Usage, UsageDay } from './documents.ts';

/** What the calls of each UTC day and model came to, of whoever is signed in. */
export function UsageTable(): JSX.Element {
  const days = daysIn(query.value);
  const { value, problem, busy, reload } = useLoad(JSON.stringify(days), (signal) => usageOf(days, signal));
  const rows = value?.days.toReversed() ?? [];
  return (
    <>
      <div class="toolbar">
        <DayPicker />
        <button type="button" disabled={rows.length === 0} onClick={() => save(rows)}>
          <Icon name="download" /> CSV
        </button>
      </div>
      {problem !== null ? (
        <Problem of={problem} retry={reload} />
      ) : rows.length > 0 && value !== null ? (
        <>
          <p class="fine sums">
            {counted(value.total.calls, 'call')}, <Money of={value.total.charged.usdc} /> charged. Compression
            took away {counted(value.total.saved_tokens, 'token')} and saved{' '}
            <Money of={value.total.saving.usdc} />, of which <Money of={value.total.share.usdc} /> is yours.
          </p>
          <Table
            label="Usage by day and model, newest first"
            columns={COLUMNS}
            rows={rows}
            keyOf={({ day, model }) => `${day} ${model}`}
            href={({ day, model }) => callsOf(day, model)}
            busy={busy}
          />
        </>
      ) : busy ? (
        <Skeleton rows={8} />
      ) : (
        <Empty title="No calls on these days">
          <p>Every call counts under the DID that it names, or else under the key that paid for it.</p>
        </Empty>
      )}
    </>
  );
}

async function usageOf(days: Days, signal: AbortSignal): Promise<Usage | null> {
  const who = identity.peek();
  const subject = who?.way === 'did' ? who.agent.did : await keyId(signal);
  if (subject === null) return null;
  return api<Usage>(`/v1/compute/usage/${encodeURIComponent(subject)}`, { query: { ...days }, signal });
}

/** The id of the key that is signed in. */
async function keyId(signal: AbortSignal): Promise<string | null> {
  const { caller } = await api<CompressionStats>('/v1/compute/compression/stats', { signal });
  return caller?.subject ?? null;
}

function callsOf(day: string, model: string): string {
  const start = Date.parse(day) / 1_000;
  return `/activity?${new URLSearchParams({ from: String(start), to: String(start + 86_400), model }).toString()}`;
}

const number = (title: string, value: (row: UsageDay) => number, wide = true): Column<UsageDay> => ({
  title,
  width: wide ? 15 : 9,
  end: true,
  yields: wide ? 2 : 1,
  cell: (row) => count(value(row)),
});

const COLUMNS: readonly Column<UsageDay>[] = [
  { title: 'Day, UTC', width: 14, cell: ({ day }) => <time dateTime={day}>{day}</time> },
  {
    title: 'Model',
    cell: ({ model }) => (
      <span title={model}>
        <ModelName of={model} />
      </span>
    ),
  },
  number('Calls', ({ calls }) => calls, false),
  number('Tokens read', ({ prompt_tokens }) => prompt_tokens),
  number('From cache', ({ cached_tokens }) => cached_tokens),
  number('Tokens written', ({ completion_tokens }) => completion_tokens),
  number('Tokens cut', ({ saved_tokens }) => saved_tokens),
  { title: 'Your share', width: 17, end: true, yields: 2, cell: ({ share }) => <Money of={share.usdc} /> },
  { title: 'Charged', width: 17, end: true, cell: ({ charged }) => <Money of={charged.usdc} /> },
];

/** Saves the rows as CSV. No value in them needs quotes but the model’s name. */
function save(rows: readonly UsageDay[]): void {
  const names =
    'day,model,calls,prompt_tokens,cached_tokens,completion_tokens,saved_tokens,saving_usdc,share_usdc,charged_usdc';
  const lines = rows.map((row) =>
    [
      row.day,
      `"${row.model.replaceAll('"', '""')}"`,
      row.calls,
      row.prompt_tokens,
      row.cached_tokens,
      row.completion_tokens,
      row.saved_tokens,
      row.saving.usdc,
      row.share.usdc,
      row.charged.usdc,
    ].join(','),
  );
  const url = URL.createObjectURL(new Blob([[names, ...lines, ''].join('\r\n')], { type: 'text/csv' }));
  Object.assign(document.createElement('a'), { href: url, download: 'usage.csv' }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
