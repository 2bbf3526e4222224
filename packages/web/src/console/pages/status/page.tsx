import type { StatusEndpoint, StatusModel, StatusReport } from '@tallystick/core';
import type { JSX } from 'preact';
import { api } from '../../api.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { Facts } from '../../components/facts.tsx';
import { Problem, Skeleton } from '../../components/states.tsx';
import { ageOf, lengthOf } from '../../format/length.ts';
import { count, counted } from '../../format/number.ts';
import { usePolling } from '../../poll.ts';
import type { History } from './documents.ts';
import { Incidents } from './incidents.tsx';
import { type Row, Uptimes } from './uptime.tsx';
import { Verdict } from './verdict.tsx';

const title = 'Status';

/** A new document is shown soon after it could have come. */
const STATUS_MS = 30_000;
const HISTORY_MS = 300_000;

/** How the service is, checked here, and how it was on the days before. */
export function Page(): JSX.Element {
  const reading = usePolling('status', STATUS_MS, async (signal) =>
    (await import('./read.ts')).readNow(signal),
  );
  const history = usePolling('history', HISTORY_MS, historyNow);
  const { value } = reading;
  return (
    <div class="status" aria-busy={value === null}>
      <header class="title">
        <h1>{title}</h1>
      </header>
      <p class="lede">
        Every minute the service calls each of its endpoints, and signs and numbers what it found. This page
        checks signature and number, so that an outdated status, or a second one with the same number, is
        detected.
      </p>
      {reading.problem !== null && <Problem of={reading.problem} retry={reading.reload} />}
      {value === null ? (
        reading.problem === null && <Waiting />
      ) : (
        <>
          <Verdict of={value} again={reading.reload} />
          {value.report !== null && <Report of={value.report} at={value.at} history={history.value} />}
        </>
      )}
      {history.problem !== null && <Problem of={history.problem} retry={history.reload} />}
      <section class="block" aria-labelledby="incidents">
        <h2 id="incidents">Incidents of the last 90 days</h2>
        {history.value === null ? (
          history.problem === null && <Skeleton rows={2} />
        ) : (
          <Incidents of={history.value.incidents} />
        )}
      </section>
      <Yourself />
    </div>
  );
}

/** As high as what it stands for, so that nothing moves when that comes. */
function Waiting(): JSX.Element {
  return (
    <>
      <div class="banner" data-state="unknown" />
      <div class="numbers waiting" />
      <section class="block">
        <h2>Endpoints</h2>
        <Skeleton rows={17} />
      </section>
    </>
  );
}

function Report({
  of,
  at,
  history,
}: {
  readonly of: StatusReport;
  readonly at: number;
  readonly history: History | null;
}): JSX.Element {
  const called = of.models.filter(({ state }) => state !== 'unknown');
  const idle = of.models.filter(({ state }) => state === 'unknown');
  return (
    <>
      <Glance of={of} at={at} />
      <section class="block" aria-labelledby="endpoints">
        <h2 id="endpoints">Endpoints</h2>
        <p class="fine">
          A bar is a day: green if every check found the endpoint up, amber if some did not, red if more than
          a twentieth found it down. The time is the median of the newest answers, without the network.{' '}
          <em>Gate</em>: the endpoint costs money or leaves a trace, so the check is only that it refuses what
          it must.
        </p>
        <Uptimes label="Endpoints" kind="endpoint" rows={of.endpoints.map(endpointRow)} history={history} />
      </section>
      <section class="block" aria-labelledby="models">
        <h2 id="models">Providers and models</h2>
        <p class="fine">
          This is what calls in the last five minutes showed. A model is up only if it answered one of them;
          if nobody called it, its state is unknown.
        </p>
        <Uptimes label="Providers" kind="provider" rows={of.providers.map(modelRow)} history={history} />
        <h3>Models</h3>
        {called.length === 0 ? (
          <p class="fine">No model was called lately, so their state is unknown.</p>
        ) : (
          <Uptimes label="Models" kind="model" rows={called.map(modelRow)} history={history} />
        )}
        {idle.length > 0 && (
          <details class="idle">
            <summary>{counted(idle.length, 'model')} not called lately</summary>
            <p class="fine">{idle.map(({ id }) => id).join(', ')}</p>
          </details>
        )}
      </section>
      <Checkpoint of={of} />
    </>
  );
}

function Glance({ of, at }: { readonly of: StatusReport; readonly at: number }): JSX.Element {
  const { endpoints, log, issued_at, valid_until } = of;
  const up = endpoints.filter(({ state }) => state === 'up').length;
  const pilots = endpoints.filter(({ availability }) => availability === 'pilot').length;
  const waits = log.oldest_unanchored_seconds;
  const held = (Date.parse(valid_until) - Date.parse(issued_at)) / 1_000;
  const waiting = log.accepted - log.anchored;
  return (
    <Facts
      facts={[
        {
          name: 'Endpoints up',
          value: `${up} of ${endpoints.length}`,
          note: `${endpoints.length - pilots} live, ${pilots} pilot`,
        },
        {
          name: 'Last check',
          value: ageOf(issued_at, at),
          note: `Every minute; out of date after ${lengthOf(held)}`,
        },
        {
          name: 'Hashes accepted',
          value: count(log.accepted),
          note: `Covered by a root that is final on a chain: ${count(log.anchored)}`,
        },
        {
          name: 'Longest wait for an anchor',
          value: waits === null ? 'none' : lengthOf(waits),
          note:
            waits === null
              ? 'No hash is waiting'
              : `An upper bound; ${counted(waiting, 'hash waits', 'hashes wait')}`,
        },
      ]}
    />
  );
}

function endpointRow(endpoint: StatusEndpoint): Row {
  const { name, availability, probe, method, path, latency_ms, since, state, code } = endpoint;
  return {
    id: name,
    state,
    code,
    since,
    title: (
      <>
        {name.replaceAll('_', ' ')}
        {availability === 'pilot' && <span class="tag">pilot</span>}
        {probe === 'refusal' && <span class="tag">gate</span>}
      </>
    ),
    note: (
      <>
        <code>
          {method} {path}
        </code>
        {latency_ms === null ? '' : ` · ${latency_ms.toFixed(1)} ms`}
      </>
    ),
  };
}

function modelRow({ id, state, code, since }: StatusModel): Row {
  return {
    id,
    state,
    code,
    since,
    title: id,
  };
}

function Checkpoint({ of: { log } }: { readonly of: StatusReport }): JSX.Element {
  const { checkpoint } = log;
  return (
    <section class="block" aria-labelledby="checkpoint">
      <h2 id="checkpoint">Newest checkpoint of the log</h2>
      {checkpoint === null ? (
        <p>The log has signed no checkpoint yet.</p>
      ) : (
        <dl class="pairs">
          <div>
            <dt>Origin</dt>
            <dd>
              <code>{checkpoint.origin}</code>
            </dd>
          </div>
          <div>
            <dt>Leaves</dt>
            <dd>{count(checkpoint.size)}</dd>
          </div>
          <div>
            <dt>Root</dt>
            <dd>
              <code>{checkpoint.root}</code>
              <CopyButton text={checkpoint.root} what="root" />
            </dd>
          </div>
        </dl>
      )}
    </section>
  );
}

function Yourself(): JSX.Element {
  const command = `tally status --verify --url ${location.origin}`;
  return (
    <section class="block" aria-labelledby="yourself">
      <h2 id="yourself">Check it yourself</h2>
      <p class="command">
        <code>{command}</code>
        <CopyButton text={command} what="command" />
      </p>
      <p class="fine">
        The service says this about itself. The signature holds it to what it said, but only your own request
        can show that an endpoint works for you. The history is not signed.
      </p>
    </section>
  );
}

/** The history of everything: the service gives that of models apart, since they are many. */
async function historyNow(signal: AbortSignal): Promise<History> {
  const [all, models] = await Promise.all([
    api<History>('/v1/status/history', { as: null, signal }),
    api<History>('/v1/status/history', { as: null, signal, query: { kind: 'model' } }),
  ]);
  const incidents = [...all.incidents, ...models.incidents];
  return {
    ...all,
    subjects: [...all.subjects, ...models.subjects],
    incidents: incidents.toSorted((one, other) => other.started_at.localeCompare(one.started_at)),
  };
}
