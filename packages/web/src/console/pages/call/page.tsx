import type { ComponentChildren, JSX } from 'preact';
import { api } from '../../api.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { Money } from '../../components/money.tsx';
import { SignInFirst } from '../../components/sign-in-first.tsx';
import { Empty, Problem, Skeleton } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { count, duration } from '../../format/number.ts';
import { identity } from '../../identity/identity.ts';
import { useLoad } from '../../load.ts';
import { AnchorPanel } from './anchor-panel.tsx';
import { BillTable } from './bill-table.tsx';
import { Content } from './content.tsx';
import type { CallDetail } from './documents.ts';
import { Failure } from './failure.tsx';
import { useProof } from './proof.ts';
import { ProofPanel } from './proof-panel.tsx';
import { Timeline } from './timeline.tsx';
import { Why } from './why.tsx';

const title = 'Call';

/** One call: what became of it, why, what it cost, and what proves it. */
export function Page({ params }: { readonly params: Readonly<Record<string, string>> }): JSX.Element {
  const id = params['id'] ?? '';
  const call = useLoad(id, (signal) =>
    api<CallDetail>(`/v1/compute/calls/${encodeURIComponent(id)}`, { signal }),
  );
  const shown = call.value?.id === id ? call.value : null;
  const proof = useProof(shown);
  if (call.problem?.status === 401 && identity.value === null) {
    return (
      <SignInFirst title="Sign in to see this call">
        Only the key or the DID that made a call sees it.
      </SignInFirst>
    );
  }
  if (call.problem?.status === 404) {
    return (
      <Empty title="You have no call with this id">
        <p>
          A call is listed a second after it has ended. If <code>{id}</code> was made by another key or DID,
          sign in with that one.
        </p>
        <p class="choices">
          <button type="button" onClick={call.reload}>
            Look again
          </button>
          <a href="/activity">Your calls</a>
        </p>
      </Empty>
    );
  }
  if (call.problem !== null) return <Problem of={call.problem} retry={call.reload} />;
  if (shown === null) return <Waiting />;
  return (
    <article class="call">
      <Header of={shown} />
      <Failure call={shown} />
      <Timeline call={shown} />
      <div class="halves">
        <div>
          <BillTable call={shown} signed={proof.value?.amount ?? null} />
          {shown.receipt_id !== null && <AnchorPanel proof={proof.value} />}
        </div>
        <ProofPanel call={shown} proof={proof} />
      </div>
      <Why call={shown} />
      <Content call={shown} receipt={proof.value?.receipt ?? null} />
    </article>
  );
}

function Waiting(): JSX.Element {
  return (
    <div class="call">
      <h1>{title}</h1>
      <Skeleton rows={12} />
    </div>
  );
}

function Header({ of }: { readonly of: CallDetail }): JSX.Element {
  const { status, error_code: code, session } = of;
  const model = of.model ?? of.requested_model ?? 'no model';
  return (
    <>
      <p class="back">
        <a href="/activity">Calls</a>
      </p>
      <header class="title">
        <h1>{model}</h1>
        <p class="id">
          <code>{of.id}</code>
          <CopyButton text={of.id} what="id of the call" />
        </p>
      </header>
      <dl class="summary">
        <Fact name="Status">
          <span class="state" data-state={status < 400 && code === null ? 'pass' : 'fail'}>
            {status} {code ?? ''}
          </span>
        </Fact>
        <Fact name="Provider">{of.provider ?? '–'}</Fact>
        <Fact name="Cost">
          {of.cost_usdc === null ? '–' : <Money of={of.cost_usdc} />}
          {of.saving_usdc !== null && Number(of.saving_usdc) > 0 && (
            <small>
              {' '}
              saved <Money of={of.saving_usdc} />
              {of.billing !== null && (
                <>
                  , of which <Money of={of.billing.share.usdc} /> is yours
                </>
              )}
            </small>
          )}
        </Fact>
        <Fact name="Took">
          {of.total_ms === null ? '–' : duration(of.total_ms)}
          {of.first_byte_ms !== null && <small> first byte {duration(of.first_byte_ms)}</small>}
        </Fact>
        <Fact name="Tokens">
          {of.prompt_tokens === null
            ? '–'
            : `${count(of.prompt_tokens)} → ${count(of.completion_tokens ?? 0)}`}
        </Fact>
        <Fact name="Ended">
          <Time at={of.at} />
        </Fact>
      </dl>
      <p class="origins">
        {of.requested_model !== null && of.requested_model !== model && (
          <span>
            asked for <b>{of.requested_model}</b>
          </span>
        )}
        {of.key !== null && (
          <span>
            key <a href={`/activity?key=${of.key}`}>{of.key}</a>
          </span>
        )}
        {of.did !== null && (
          <span>
            by <a href={`/activity?did=${encodeURIComponent(of.did)}`}>{of.did}</a>
          </span>
        )}
        {session !== null && (
          <span>
            session <a href={`/sessions/${encodeURIComponent(session)}`}>{session}</a>
          </span>
        )}
        {Object.entries(of.tags).map(([name, value]) => (
          <span key={name}>
            <a href={`/activity?tag=${encodeURIComponent(`${name}:${value}`)}`}>
              {name}: {value}
            </a>
          </span>
        ))}
        {of.stream && <span>streamed</span>}
      </p>
    </>
  );
}

function Fact({
  name,
  children,
}: {
  readonly name: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
