import type { ComponentChildren, JSX } from 'preact';
import { FoundState } from '../../components/state.tsx';
import { Time } from '../../components/time.tsx';
import { daysBetween, uptimeText } from './days.ts';
import type { History, Subject } from './documents.ts';

/** What a row is about. */
export interface Row {
  readonly id: string;
  readonly state: string;
  readonly code: string;
  readonly since: string;
  readonly title: ComponentChildren;
  readonly note?: ComponentChildren;
}

/** Things with their states now, and their days before as bars. @param history null while it is not there */
export function Uptimes({
  label,
  kind,
  rows,
  history,
}: {
  readonly label: string;
  readonly kind: Subject['kind'];
  readonly rows: readonly Row[];
  readonly history: History | null;
}): JSX.Element {
  const subjects = new Map(
    history?.subjects.flatMap((subject) => (subject.kind === kind ? [[subject.id, subject]] : [])),
  );
  return (
    <ul class="uptimes" aria-label={label}>
      {rows.map((row) => (
        <li key={row.id}>
          <div class="subject">
            <b>{row.title}</b>
            {row.note !== undefined && <small>{row.note}</small>}
          </div>
          <Bars id={row.id} of={subjects.get(row.id)} history={history} />
          <data class="share" value={subjects.get(row.id)?.uptime ?? ''}>
            {uptimeText(subjects.get(row.id)?.uptime ?? null)}
          </data>
          <div class="now">
            <FoundState of={row} />
            <small>
              since <Time at={row.since} />
            </small>
          </div>
        </li>
      ))}
    </ul>
  );
}

function Bars({
  id,
  of,
  history,
}: {
  readonly id: string;
  readonly of: Subject | undefined;
  readonly history: History | null;
}): JSX.Element {
  if (history === null) return <span class="uptime" />;
  const days = daysBetween(history.from, history.to, of?.days ?? []);
  const troubled = days.filter(({ tone }) => tone === 'warn' || tone === 'fail').length;
  const label = `${id.replaceAll('_', ' ')}: trouble on ${troubled} of ${days.length} days`;
  return (
    <svg
      class="uptime"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${days.length} 1`}
      preserveAspectRatio="none"
    >
      {days.map(({ day, tone, text }, at) => (
        <rect key={day} x={at + 0.15} width={0.7} height={1} data-state={tone}>
          <title>{`${day}: ${text}`}</title>
        </rect>
      ))}
    </svg>
  );
}
