import type { ComponentChildren, JSX } from 'preact';
import { ModelName } from '../../components/model-name.tsx';
import { Money } from '../../components/money.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { count, duration } from '../../format/number.ts';
import { setQuery } from '../../router.ts';
import type { Call } from './documents.ts';
import { Proof } from './proof.tsx';

/** The calls of a page of the list. */
export function CallList({
  calls,
  busy,
}: {
  readonly calls: readonly Call[];
  readonly busy: boolean;
}): JSX.Element {
  return (
    <Table
      label="Calls, newest first"
      columns={calls.some(({ session }) => session !== null) ? WITH_SESSIONS : WITHOUT_SESSIONS}
      rows={calls}
      keyOf={({ id }) => id}
      href={({ id }) => `/activity/${id}`}
      busy={busy}
    />
  );
}

/** A value that, pressed, becomes a filter. */
function Pick({
  name,
  value,
  children = value,
}: {
  readonly name: string;
  readonly value: string | null;
  readonly children?: ComponentChildren;
}): JSX.Element {
  if (value === null) return <i class="none">–</i>;
  return (
    <button type="button" class="pick" title={`Only ${value}`} onClick={() => setQuery({ [name]: value })}>
      {children}
    </button>
  );
}

const COLUMNS: readonly Column<Call>[] = [
  { title: 'Time', width: 17, cell: ({ at }) => <Time at={at} /> },
  {
    title: 'Model',
    cell: ({ model, requested_model: asked }) => (
      <Pick name="model" value={model ?? asked}>
        <ModelName of={model ?? asked ?? ''} />
      </Pick>
    ),
  },
  {
    title: 'Provider',
    yields: 4,
    width: 16,
    cell: ({ provider }) => <Pick name="provider" value={provider} />,
  },
  { title: 'Status', width: 20, yields: 2, cell: (call) => <Status of={call} /> },
  { title: 'Tokens', width: 17, end: true, yields: 3, cell: (call) => tokensOf(call) },
  {
    title: 'Latency',
    width: 10,
    end: true,
    yields: 2,
    cell: ({ total_ms }) => shown(total_ms, (value) => duration(value)),
  },
  {
    title: 'Cost',
    width: 17,
    end: true,
    // Where there is no room for the status, a failed call says here that it failed.
    cell: (call, titles) =>
      titles.includes('Status') || call.status < 400 ? costOf(call) : <FailedCost of={call} />,
  },
  {
    title: 'Saved',
    width: 16,
    end: true,
    yields: 4,
    cell: ({ saving_usdc }) => shown(saving_usdc, (of) => (Number(of) === 0 ? null : <Money of={of} />)),
  },
  {
    title: 'Session',
    width: 16,
    yields: 5,
    cell: ({ session }) =>
      shown(session, (id) => (
        <a href={`/sessions/${encodeURIComponent(id)}`} title={id}>
          {id}
        </a>
      )),
  },
  {
    title: 'Proof',
    width: 9,
    end: true,
    yields: 1,
    cell: ({ receipt_id }) => shown(receipt_id, (id) => <Proof receiptId={id} />),
  },
];

/** Providers give way to sessions: the name of a model begins with its provider. */
const WITH_SESSIONS = COLUMNS.filter(({ title }) => title !== 'Provider');
const WITHOUT_SESSIONS = COLUMNS.filter(({ title }) => title !== 'Session');

function Status({ of: { status, error_code } }: { readonly of: Call }): JSX.Element {
  if (status < 400)
    return (
      <span class="state" data-state="pass">
        {status}
      </span>
    );
  return (
    <span class="state" data-state="fail">
      {status} {error_code !== null && <Pick name="error_code" value={error_code} />}
    </span>
  );
}

function costOf({ cost_usdc }: Call): ComponentChildren {
  return shown(cost_usdc, (of) => <Money of={of} />);
}

/** The status of a failed call, and its cost if it has one. */
function FailedCost({ of }: { readonly of: Call }): JSX.Element {
  const { status, error_code, cost_usdc } = of;
  return (
    <>
      <span class="state" data-state="fail" title={error_code ?? undefined}>
        {status}
      </span>{' '}
      {Number(cost_usdc) > 0 && costOf(of)}
    </>
  );
}

function tokensOf({ prompt_tokens, completion_tokens }: Call): ComponentChildren {
  return shown(prompt_tokens, (prompt) => `${count(prompt)} → ${count(completion_tokens ?? 0)}`);
}

function shown<T>(value: T | null, draw: (value: T) => ComponentChildren): ComponentChildren {
  return (value === null ? null : draw(value)) ?? <i class="none">–</i>;
}
