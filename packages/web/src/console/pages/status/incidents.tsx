import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { causeOf, State } from '../../components/state.tsx';
import { Time } from '../../components/time.tsx';
import { lengthOf } from '../../format/length.ts';
import type { Incident } from './documents.ts';

const SHOWN = 10;

/** Times in which something was degraded or down, the newest first. */
export function Incidents({ of }: { readonly of: readonly Incident[] }): JSX.Element {
  const [all, setAll] = useState(false);
  if (of.length === 0) return <p class="fine">Nothing was degraded or down in this time.</p>;
  const shown = all ? of : of.slice(0, SHOWN);
  return (
    <>
      <ol class="incidents" aria-label="Incidents">
        {shown.map((incident) => (
          <li key={`${incident.kind} ${incident.id} ${incident.started_at}`}>
            <div>
              <b>{incident.id.replaceAll('_', ' ')}</b> <small>{incident.kind}</small>
            </div>
            <State tone={incident.state === 'down' ? 'fail' : 'warn'}>
              {incident.state === 'down' ? 'Down' : 'Degraded'}: {causeOf(incident.code)}
            </State>
            <div class="when">
              <Time at={incident.started_at} />{' '}
              {incident.ended_at === null ? <b>· not over yet</b> : <>· {lastedOf(incident)}</>}
            </div>
          </li>
        ))}
      </ol>
      {of.length > shown.length && (
        <button type="button" class="more" onClick={() => setAll(true)}>
          Show all {of.length} incidents
        </button>
      )}
    </>
  );
}

const lastedOf = ({ started_at, ended_at }: Incident): string =>
  lengthOf((Date.parse(ended_at ?? started_at) - Date.parse(started_at)) / 1_000);
