import type { SessionEntry } from '@tallystick/core';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { CopyButton } from '../../components/copy-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { Money } from '../../components/money.tsx';
import { SignInFirst } from '../../components/sign-in-first.tsx';
import { Empty, Problem, Skeleton } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { sumMoney } from '../../format/money.ts';
import { count, duration } from '../../format/number.ts';
import { identity } from '../../identity/identity.ts';
import { useLoad } from '../../load.ts';
import type { Call } from '../activity/documents.ts';
import { MOST_CALLS, readSession, type Session } from './documents.ts';
import { type Step, stepsOf } from './steps.ts';
import { SessionVerdict } from './verdict.tsx';

const title = 'Session';

/** What an agent did in one session: its calls of models and of tools in their order, and what they cost. */
export function Page({ params }: { readonly params: Readonly<Record<string, string>> }): JSX.Element {
  const id = params['id'] ?? '';
  // A page of its own for each, which shows nothing of the session that was shown before.
  return <OneSession key={id} id={id} />;
}

function OneSession({ id }: { readonly id: string }): JSX.Element {
  const { value, problem, reload } = useLoad(id, (signal) => readSession(id, signal));
  if (problem?.status === 401 && identity.value === null) {
    return (
      <SignInFirst title="Sign in to see this session">
        Only the key or the DID that made the calls of a session sees it.
      </SignInFirst>
    );
  }
  return (
    <article class="call">
      <p class="back">
        <a href="/sessions">Sessions</a>
      </p>
      <header class="title">
        <h1>{title}</h1>
        <p class="id">
          <code>{id}</code>
          <CopyButton text={id} what="id of the session" />
        </p>
      </header>
      {problem !== null && <Problem of={problem} retry={reload} />}
      {value === null ? problem === null && <Skeleton rows={10} /> : <Shown of={value} id={id} />}
    </article>
  );
}

function Shown({ of, id }: { readonly of: Session; readonly id: string }): JSX.Element {
  const { calls, record, isCut } = of;
  const steps = useMemo(() => stepsOf(calls, record), [calls, record]);
  if (steps.length === 0) {
    return (
      <Empty title="You have no session with this id">
        <p>
          A call belongs to a session by its <code>svc.session</code>; tool calls are recorded by{' '}
          <code>POST /v1/sessions</code>.
        </p>
        <a href="/sessions">Your sessions</a>
      </Empty>
    );
  }
  return (
    <>
      <Sums calls={calls} steps={steps} />
      {record === null ? (
        <p class="fine">
          This session has no signed record, so nothing proves that these are all of its calls. Each call has
          a receipt of its own.
        </p>
      ) : (
        <SessionVerdict of={record} />
      )}
      {isCut && (
        <p class="fine">
          These are its newest {count(MOST_CALLS)} calls.{' '}
          <a href={`/activity?session=${encodeURIComponent(id)}`}>All of them</a>
        </p>
      )}
      <section class="part" aria-labelledby="steps">
        <h2 id="steps">What happened</h2>
        <ol class="steps">
          {steps.map((step) => (
            <StepItem key={step.key} of={step} signed={record !== null} />
          ))}
        </ol>
      </section>
    </>
  );
}

function Sums({
  calls,
  steps,
}: {
  readonly calls: readonly Call[];
  readonly steps: readonly Step[];
}): JSX.Element {
  // None where nothing of the record can be read.
  const times = steps.flatMap(({ at, call }) => (at === null ? [] : [at, at - (call?.total_ms ?? 0)]));
  const failed = calls.filter(({ status, error_code }) => status >= 400 || error_code !== null).length;
  const tools = steps.filter(({ entry }) => entry?.call.kind === 'tool').length;
  const saved = sumMoney(calls.map(({ saving_usdc }) => saving_usdc ?? '0'));
  const sum = (of: (call: Call) => number | null): number =>
    calls.reduce((total, call) => total + (of(call) ?? 0), 0);
  return (
    <dl class="summary">
      <div>
        <dt>Calls of models</dt>
        <dd>
          {count(calls.length)} {failed > 0 && <small>{count(failed)} failed</small>}
        </dd>
      </div>
      <div>
        <dt>Calls of tools</dt>
        <dd>{count(tools)}</dd>
      </div>
      <div>
        <dt>Cost</dt>
        <dd>
          <Money of={sumMoney(calls.map(({ cost_usdc }) => cost_usdc ?? '0'))} />
          {Number(saved) > 0 && (
            <small>
              {' '}
              saved <Money of={saved} />
            </small>
          )}
        </dd>
      </div>
      <div>
        <dt>Tokens</dt>
        <dd>{`${count(sum((call) => call.prompt_tokens))} → ${count(sum((call) => call.completion_tokens))}`}</dd>
      </div>
      <div>
        <dt>Lasted</dt>
        <dd>{times.length === 0 ? '–' : duration(Math.max(...times) - Math.min(...times))}</dd>
      </div>
      <div>
        <dt>Began</dt>
        <dd>{times.length === 0 ? '–' : <Time at={new Date(Math.min(...times)).toISOString()} />}</dd>
      </div>
    </dl>
  );
}

function StepItem({ of, signed }: { readonly of: Step; readonly signed: boolean }): JSX.Element {
  const { at, entry, call, faults, pause } = of;
  const isGap = entry === null && call === null;
  return (
    <>
      {pause !== null && <li class="pause">{duration(pause)} without a step</li>}
      <li data-state={faults.length > 0 || isGap ? 'fail' : stateOf(call, entry)}>
        <span class="when">{at !== null && <Time at={new Date(at).toISOString()} />}</span>
        <span class="what">
          {call !== null && <CallStep of={call} />}
          {call === null && entry !== null && <EntryStep of={entry} />}
          {faults.map(({ name, detail }) => (
            <span class="fault" key={name + detail}>
              <Icon name="close" /> <b>{name}</b> {detail}
            </span>
          ))}
        </span>
        <span class="place">
          {entry !== null && `number ${entry.seq}`}
          {entry === null && call !== null && signed && 'not in the record'}
        </span>
      </li>
    </>
  );
}

function CallStep({ of }: { readonly of: Call }): JSX.Element {
  const { id, model, requested_model, status, error_code, cost_usdc, total_ms } = of;
  return (
    <>
      <a href={`/activity/${id}`}>{model ?? requested_model}</a>{' '}
      {status >= 400 || error_code !== null ? (
        <span class="state" data-state="fail">
          {status} {error_code}
        </span>
      ) : (
        <small>
          {cost_usdc !== null && <Money of={cost_usdc} />}
          {total_ms !== null && `, ${duration(total_ms)}`}
          {of.prompt_tokens !== null &&
            `, ${count(of.prompt_tokens)} → ${count(of.completion_tokens ?? 0)} tokens`}
        </small>
      )}
    </>
  );
}

const OUTCOMES: Readonly<Record<string, string>> = {
  completed: 'completed',
  error: 'ended with an error',
  denied: 'was denied',
  cancelled: 'was cancelled',
  unknown: 'has no known end',
};

function EntryStep({ of: { call, anchored } }: { readonly of: SessionEntry }): JSX.Element {
  const more = anchored ? ', anchored' : '';
  if (call.kind === 'tool') {
    return (
      <>
        <b>{call.tool}</b>{' '}
        <small>
          {call.server.name}, {OUTCOMES[call.outcome] ?? call.outcome}
          {more}
        </small>
      </>
    );
  }
  if (call.kind === 'reference') {
    return call.child === undefined ? (
      <>
        Refers to receipt{' '}
        <a href={`/receipts#${call.receipt_id}`}>
          <code>{call.receipt_id}</code>
        </a>
      </>
    ) : (
      <>
        Begins session <a href={`/sessions/${call.child}`}>{call.child}</a>
      </>
    );
  }
  return (
    <small>
      {call.event === 'open' ? 'The session opens' : `The session closes with ${call.count} receipts`}
      {more}
    </small>
  );
}

function stateOf(call: Call | null, entry: SessionEntry | null): 'model' | 'tool' | 'unsure' | 'own' {
  if (call !== null) return call.status >= 400 || call.error_code !== null ? 'unsure' : 'model';
  if (entry?.call.kind !== 'tool') return 'own';
  return entry.call.outcome === 'completed' ? 'tool' : 'unsure';
}
