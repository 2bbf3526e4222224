import type { JSX } from 'preact';
import { duration } from '../../format/number.ts';
import type { CallDetail } from './documents.ts';
import { type Moment, momentsOf, ticksOf } from './moments.ts';

/** The steps of a call, drawn to scale. */
export function Timeline({ call }: { readonly call: CallDetail }): JSX.Element {
  const { bars, firstByte, total } = momentsOf(call);
  return (
    <section class="part" aria-labelledby="timeline">
      <h2 id="timeline">Where the time went</h2>
      {bars.length === 0 ? (
        <p class="fine">
          The steps of this call are not known: the process that served it stopped before they were written
          down.
        </p>
      ) : (
        <div class="timeline">
          <ol>
            {bars.map((bar) => (
              <Bar key={`${bar.title} ${bar.at}`} of={bar} total={total} firstByte={firstByte} />
            ))}
          </ol>
          <div class="scale" aria-hidden="true">
            <div>
              {ticksOf(total).map((tick) => (
                <i key={tick} style={tickAt((100 * tick) / total)}>
                  {fine(tick)}
                </i>
              ))}
            </div>
          </div>
          {firstByte !== null && (
            <p class="fine legend">
              <span class="dash" aria-hidden="true" /> First byte of the answer after {fine(firstByte)}
            </p>
          )}
        </div>
      )}
    </section>
  );
}

/** Where a label stands: over its place, but never beyond the ends of the scale. */
const tickAt = (percent: number) => ({ left: `${percent}%`, translate: `-${percent}% 0` });

function Bar({
  of,
  total,
  firstByte,
}: {
  readonly of: Moment;
  readonly total: number;
  readonly firstByte: number | null;
}): JSX.Element {
  const { title, about, at, ms, state } = of;
  return (
    <li data-state={state}>
      <span class="what">
        <b>{title}</b> <span>{about}</span>
      </span>
      <span class="track" aria-hidden="true">
        <i style={{ left: `${(100 * at) / total}%`, width: `${(100 * ms) / total}%` }} />
        {firstByte !== null && <b style={{ left: `${(100 * firstByte) / total}%` }} />}
      </span>
      <span class="took">{fine(ms)}</span>
    </li>
  );
}

/** A duration with a decimal below 10 ms: steps of the service take less than one. */
function fine(ms: number): string {
  return ms > 0 && ms < 10 ? `${Number(ms.toFixed(1))} ms` : duration(ms);
}
