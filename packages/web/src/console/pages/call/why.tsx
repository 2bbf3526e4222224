import type { JSX } from 'preact';
import { Money } from '../../components/money.tsx';
import { percent } from '../../format/number.ts';
import type { CallDetail, Routing } from './documents.ts';
import {
  afterwardsOf,
  type Contender,
  contendersOf,
  excludedBy,
  factsOf,
  leftOutOf,
  usdcOf,
  whyOf,
} from './reasons.ts';
import { Replay } from './replay.tsx';

/** Why the call went where it went, with what speaks for and against each model, and the same choice made again. */
export function Why({ call }: { readonly call: CallDetail }): JSX.Element {
  const { routing } = call;
  if (routing === null) {
    return (
      <section class="part" aria-labelledby="why">
        <h2 id="why">Why it went there</h2>
        <p class="fine">
          {call.model === null
            ? 'The call ended before a model was chosen.'
            : 'Nothing is known of the choice: the process that made it stopped before it was written down.'}
        </p>
      </section>
    );
  }
  const contenders = contendersOf(routing);
  const afterwards = afterwardsOf(call);
  return (
    <section class="part" aria-labelledby="why">
      <h2 id="why">
        Why it went to <span class="name">{routing.outcome.model}</span>
      </h2>
      <p>{whyOf(routing)}</p>
      {afterwards !== null && <p>{afterwards}</p>}
      <dl class="terms">
        {factsOf(routing).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {contenders.length > 1 && <Contenders of={contenders} />}
      <LeftOut routing={routing} />
      <Replay routing={routing} />
    </section>
  );
}

const ROLES = {
  chosen: 'chosen',
  fallback: 'fallback',
  other: '',
  unaffordable: 'beyond the balance',
} as const;

/** Most models that are shown at first. */
const SHOWN = 6;

function Contenders({ of }: { readonly of: readonly Contender[] }): JSX.Element {
  const more = of.slice(SHOWN);
  return (
    <>
      <ContenderTable label="Models that could take the request" of={of.slice(0, SHOWN)} />
      {more.length > 0 && (
        <details class="more">
          <summary>{more.length} more with lower scores</summary>
          <ContenderTable label="More models that could take the request" of={more} />
        </details>
      )}
    </>
  );
}

function ContenderTable({
  label,
  of,
}: {
  readonly label: string;
  readonly of: readonly Contender[];
}): JSX.Element {
  return (
    <table class="sheet contenders" aria-label={label}>
      <thead>
        <tr>
          <th scope="col">Model</th>
          <th scope="col" class="end">
            Right answer
          </th>
          <th scope="col" class="end">
            Expected cost
          </th>
          <th scope="col" class="end medium">
            Score
          </th>
          <th scope="col">Beside the chosen one</th>
        </tr>
      </thead>
      <tbody>
        {of.map(({ score: { model, quality, expected_cost: cost, score }, role, words }) => (
          <tr key={model} data-role={role}>
            <th scope="row">
              {model} {ROLES[role] !== '' && <span class="tag">{ROLES[role]}</span>}
              {words !== '' && <small class="narrow">{words}</small>}
            </th>
            <td class="end">{quality === null ? '–' : percent(quality)}</td>
            <td class="end">{cost === null ? '–' : <Money of={usdcOf(cost)} />}</td>
            <td class="end medium">{score === null ? '–' : score.toFixed(3).replace('-', '−')}</td>
            <td class="words">{role === 'chosen' ? 'This one was chosen.' : words}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function LeftOut({ routing: { outcome } }: { readonly routing: Routing }): JSX.Element | null {
  const groups = excludedBy(outcome);
  if (groups.length === 0) return null;
  const number = groups.reduce((sum, [, models]) => sum + models.length, 0);
  return (
    <details class="more">
      <summary>
        {number} {number === 1 ? 'model was' : 'models were'} left out
      </summary>
      <dl class="terms">
        {groups.map(([reason, models]) => (
          <div key={reason}>
            <dt>{leftOutOf(reason)}</dt>
            <dd>{models.join(', ')}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
