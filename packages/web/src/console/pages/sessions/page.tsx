import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ExportButtons } from '../../components/export-buttons.tsx';
import { Money } from '../../components/money.tsx';
import { More } from '../../components/more.tsx';
import { SignInFirst } from '../../components/sign-in-first.tsx';
import { Empty, Problem, Skeleton } from '../../components/states.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { count } from '../../format/number.ts';
import { identity } from '../../identity/identity.ts';
import { useListing } from '../../listing.ts';
import { go } from '../../router.ts';

const title = 'Sessions';

/** A row of `GET /v1/sessions`. */
interface ListedSession {
  readonly session: string;
  /** RFC 3339: its first and its last step. */
  readonly at: string;
  readonly last_at: string;
  readonly calls: number;
  readonly errors: number;
  /** 0 where the service signs no record of it. */
  readonly receipts: number;
  readonly tool_calls: number;
  readonly cost_usdc: string;
}

/** The sessions of the caller's calls of models and those that the service signs, that which began last first. */
export function Page(): JSX.Element {
  const list = useListing<ListedSession>('sessions', '/v1/sessions', {});
  if (list.problem?.status === 401 && identity.value === null) {
    return (
      <>
        <h1>{title}</h1>
        <SignInFirst title="Sign in to see your sessions">
          The calls that an agent made under one <code>svc.session</code>, and the calls of tools that it had
          signed, are shown together here.
        </SignInFirst>
      </>
    );
  }
  return (
    <>
      <header class="title">
        <h1>{title}</h1>
        <div class="tools">
          <OpenById />
          <ExportButtons path="/v1/sessions" name="sessions" query={{}} />
        </div>
      </header>
      {list.problem !== null && <Problem of={list.problem} retry={list.reload} />}
      {list.rows.length > 0 ? (
        <Table
          label="Sessions, the newest first"
          columns={COLUMNS}
          rows={list.rows}
          keyOf={({ session }) => session}
          href={({ session }) => `/sessions/${encodeURIComponent(session)}`}
          busy={list.busy}
        />
      ) : list.busy ? (
        <Skeleton rows={10} />
      ) : (
        list.problem === null && (
          <Empty title="You have no sessions yet">
            <p>
              Send <code>svc.session</code> with the calls of one task, or open a session with{' '}
              <code>POST /v1/sessions</code> to have its calls of tools signed.
            </p>
          </Empty>
        )
      )}
      <More of={list}>Show older sessions</More>
    </>
  );
}

function OpenById(): JSX.Element {
  const [id, setId] = useState('');
  return (
    <form
      class="tools"
      onSubmit={(event) => {
        event.preventDefault();
        if (id.trim() !== '') go(`/sessions/${encodeURIComponent(id.trim())}`);
      }}
    >
      <input
        aria-label="Id of a session"
        placeholder="Open a session by its id"
        autocomplete="off"
        spellcheck={false}
        value={id}
        onInput={({ currentTarget }) => setId(currentTarget.value)}
      />
      <button type="submit">Open</button>
    </form>
  );
}

const counted = (steps: number): JSX.Element | string => (steps === 0 ? <i class="none">–</i> : count(steps));

const COLUMNS: readonly Column<ListedSession>[] = [
  { title: 'Session', cell: ({ session }) => session },
  { title: 'Began', width: 18, yields: 1, cell: ({ at }) => <Time at={at} /> },
  { title: 'Last step', width: 18, yields: 2, cell: ({ last_at }) => <Time at={last_at} /> },
  { title: 'Calls', width: 9, end: true, cell: ({ calls }) => counted(calls) },
  {
    title: 'Failed',
    width: 9,
    end: true,
    yields: 1,
    cell: ({ errors }) =>
      errors === 0 ? (
        counted(errors)
      ) : (
        <span class="state" data-state="fail">
          {count(errors)}
        </span>
      ),
  },
  { title: 'Tools', width: 9, end: true, yields: 1, cell: ({ tool_calls }) => counted(tool_calls) },
  { title: 'Signed', width: 10, end: true, yields: 2, cell: ({ receipts }) => counted(receipts) },
  { title: 'Cost', width: 17, end: true, cell: ({ cost_usdc }) => <Money of={cost_usdc} /> },
];
