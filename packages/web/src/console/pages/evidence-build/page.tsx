import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type ApiProblem, api } from '../../api.ts';
import { Empty, Problem, Skeleton } from '../../components/states.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { bytesText } from '../../format/bytes.ts';
import { count } from '../../format/number.ts';
import { open } from '../../frame/open.ts';
import { identity } from '../../identity/identity.ts';
import { problemOf, useLoad } from '../../load.ts';
import { query, setQuery } from '../../router.ts';
import { chooseTarget, rateText, type Streamed, stream } from '../../stream.ts';
import { handOver } from './hand-over.ts';

/** Builds a bundle of a tenant's receipts of a period, saves it as it streams, and hands it to the verifier. */
export function Page(): JSX.Element {
  const who = identity.value;
  const isTenant = who?.way === 'bearer' && who.kind === 'Tenant key';
  return (
    <>
      <header class="title">
        <div>
          <h1>Build an evidence bundle</h1>
          <p class="lede">
            One archive with a tenant’s receipts of a period, their anchors, the keys of that time and a
            verifier: an auditor checks it on a laptop, without a network.
          </p>
        </div>
        <a href="/evidence">Verify a bundle</a>
      </header>
      {isTenant ? (
        <Build />
      ) : (
        <Empty title={who === null ? 'Sign in with a tenant key' : 'Only a tenant has evidence'}>
          <p>
            Bundles are built from the receipts of a tenant, with the tenant’s key
            {who === null ? '' : ', and you are signed in with something else'}.
          </p>
          <button type="button" class="primary" onClick={() => void (open.value = 'sign-in')}>
            Sign in
          </button>
        </Empty>
      )}
    </>
  );
}

const TENANT = /^t_[0-9a-z]{16}$/;

function Build(): JSX.Element {
  const tenant = query.value.get('tenant') ?? '';
  const [state, setState] = useState<Streamed | null>(null);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [wrong, setWrong] = useState('');
  const aborter = useRef<AbortController | null>(null);
  useEffect(() => () => aborter.current?.abort(), []);
  const isBusy = state !== null && state.file === null;

  const build = async (form: HTMLFormElement): Promise<void> => {
    const data = new FormData(form);
    const [id, from, to] = ['tenant', 'from', 'to'].map((name) => {
      const given = data.get(name);
      return typeof given === 'string' ? given.trim() : '';
    });
    if (id === undefined || id === '') return setWrong('Type the tenant’s id, such as t_0123456789abcdef.');
    if (from && to && from >= to) return setWrong('The period must end after it begins.');
    setWrong('');
    setProblem(null);
    setQuery({ tenant: id, from: from ?? null, to: to ?? null }, 'replace');
    const control = new AbortController();
    aborter.current = control;
    try {
      const target = await chooseTarget(`evidence-${id}.zip`);
      if (target === 'cancelled') return;
      const request = { query: { from, to }, signal: control.signal };
      await stream(`/tenants/${encodeURIComponent(id)}/evidence`, request, target, setState);
    } catch (error) {
      setState(null);
      if (!control.signal.aborted) setProblem(problemOf(error));
    }
  };
  return (
    <>
      <form
        class="panel build"
        onSubmit={(event) => {
          event.preventDefault();
          void build(event.currentTarget);
        }}
      >
        <label>
          Tenant
          <input
            name="tenant"
            placeholder="t_0123456789abcdef"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            defaultValue={tenant}
            aria-describedby="tenant-help"
          />
          <small id="tenant-help">
            The id in the addresses to which its receipts are emitted: <code>/tenants/t_…/receipts</code>.
          </small>
        </label>
        <label>
          From (UTC)
          <input type="date" name="from" defaultValue={query.value.get('from') ?? ''} />
          <small>Empty: from the beginning.</small>
        </label>
        <label>
          To, exclusive (UTC)
          <input type="date" name="to" defaultValue={query.value.get('to') ?? ''} />
          <small>Empty: up to now.</small>
        </label>
        <div class="tools">
          <button type="submit" class="primary" disabled={isBusy}>
            Build and save
          </button>
          {isBusy && (
            <button type="button" onClick={() => aborter.current?.abort()}>
              Stop
            </button>
          )}
        </div>
        {wrong !== '' && (
          <p class="wrong" role="alert">
            {wrong}
          </p>
        )}
      </form>
      {problem !== null && <Problem of={problem} />}
      {state !== null && <Progress of={state} />}
      {TENANT.test(tenant) && <Exports tenant={tenant} key={`${tenant} ${(state?.file ?? null) === null}`} />}
    </>
  );
}

function Progress({ of: { bytes, file, milliseconds } }: { readonly of: Streamed }): JSX.Element {
  return (
    <section class="panel progress" aria-label="The bundle">
      <p role="status">
        {file === null
          ? `${bytesText(bytes)} received${rateText(bytes, milliseconds)}. The service makes the bundle while it sends it.`
          : `Saved as ${file.name}: ${bytesText(file.size)}.`}
      </p>
      {file === null ? (
        <progress aria-label="Receiving the bundle" />
      ) : (
        <div class="tools">
          <button type="button" class="primary" onClick={() => handOver(file)}>
            Open it in the verifier
          </button>
        </div>
      )}
    </section>
  );
}

interface Export {
  readonly receipt_id: string;
  readonly exported_at: string;
  readonly manifest_sha256: string;
  readonly period: { readonly from: string; readonly to: string };
  readonly receipts: number;
  readonly bytes: number;
}

/** The exports so far, the newest first, each with its receipt. */
function Exports({ tenant }: { readonly tenant: string }): JSX.Element | null {
  const { value, problem, reload } = useLoad(tenant, (signal) =>
    api<{ exports: readonly Export[] }>(`/tenants/${tenant}/evidence/exports`, { signal }),
  );
  if (problem !== null) return <Problem of={problem} retry={reload} />;
  if (value === null) return <Skeleton rows={2} />;
  if (value.exports.length === 0) return null;
  return (
    <section class="exports">
      <h2>Exports so far</h2>
      <Table
        label="Exports, the newest first"
        columns={COLUMNS}
        rows={value.exports.toReversed()}
        keyOf={({ receipt_id }) => receipt_id}
        href={({ receipt_id }) => `/receipts#${receipt_id}`}
      />
    </section>
  );
}

const COLUMNS: readonly Column<Export>[] = [
  { title: 'Made', width: 17, cell: ({ exported_at }) => <Time at={exported_at} /> },
  { title: 'From', yields: 1, cell: ({ period }) => <Time at={period.from} /> },
  { title: 'To', yields: 1, cell: ({ period }) => <Time at={period.to} /> },
  { title: 'Receipts', width: 12, end: true, cell: ({ receipts }) => count(receipts) },
  { title: 'Size', width: 12, end: true, cell: ({ bytes }) => bytesText(bytes) },
];
