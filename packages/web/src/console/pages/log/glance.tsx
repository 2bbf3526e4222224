import type { ComponentChildren, JSX } from 'preact';
import { Icon } from '../../components/icon.tsx';
import { Time } from '../../components/time.tsx';
import { count } from '../../format/number.ts';
import { longDuration, useNow } from './clock.ts';
import type { LogStatus } from './documents.ts';

/** How far the log is, in four numbers. */
export function Glance({ log }: { readonly log: LogStatus }): JSX.Element {
  const { chain } = log;
  return (
    <dl class="glance">
      <Figure name="Accepted" note="each on disk, at a permanent index">
        {count(log.accepted)}
      </Figure>
      <Figure name="Under the newest checkpoint" note="signed within about a second">
        {count(log.tree_size)}
      </Figure>
      <Figure
        name="Final on the chain"
        note={chain === null ? 'no chain is configured' : `on ${chain.network}, chain ${chain.chain_id}`}
      >
        {count(log.anchored_size)}
      </Figure>
      {chain === null ? (
        <Figure name="Next posting" note="no chain is configured">
          –
        </Figure>
      ) : (
        <Figure
          name="Next posting in"
          note={
            <>
              at <Time at={log.next_posting_at} />, then every {longDuration(log.period_seconds)}
            </>
          }
        >
          <Countdown to={log.next_posting_at} />
        </Figure>
      )}
    </dl>
  );
}

function Figure({
  name,
  note,
  children,
}: {
  readonly name: string;
  readonly note: ComponentChildren;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
      <dd class="note">{note}</dd>
    </div>
  );
}

function Countdown({ to }: { readonly to: string }): JSX.Element {
  const left = Math.max(0, Math.ceil((Date.parse(to) - useNow()) / 1_000));
  return <span data-countdown={left}>{longDuration(left)}</span>;
}

/** Whether the log accepts hashes and posts roots on time. */
export function Standing({ log }: { readonly log: LogStatus }): JSX.Element | null {
  const { accepting, posting, overdue_seconds, chain } = log;
  const troubles = [
    accepting === 'ok' ? null : `No hashes are accepted: ${accepting}`,
    posting === 'ok' || chain === null ? null : `Postings are delayed: ${posting}`,
    overdue_seconds > 0 && chain !== null
      ? `The oldest hash has waited ${longDuration(overdue_seconds)} past its posting.`
      : null,
  ].filter((trouble) => trouble !== null);
  if (troubles.length === 0) return null;
  return (
    <ul class="standing" role="alert">
      {troubles.map((trouble) => (
        <li key={trouble} data-state="fail">
          <Icon name="fail" /> {trouble}
        </li>
      ))}
    </ul>
  );
}
