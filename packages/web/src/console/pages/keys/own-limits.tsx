import type { JSX } from 'preact';
import { api } from '../../api.ts';
import { Meter } from '../../components/meter.tsx';
import { Problem, Skeleton } from '../../components/states.tsx';
import { useLoad } from '../../load.ts';
import type { ApiKey } from './documents.ts';
import { limitsInWords } from './limits.ts';

/** What a caller's calls count in: its key, or its DID. */
interface Spending extends Pick<ApiKey, 'limits' | 'spent'> {
  readonly spender: string;
}

/** What whoever is signed in may spend and has spent, for those who are not in the list of keys. */
export function OwnLimits({ title }: { readonly title: string }): JSX.Element {
  const { value, problem, reload } = useLoad('limits', (signal) =>
    api<{ readonly data: readonly Spending[] }>('/v1/limits', { signal }),
  );
  if (problem !== null) return <Problem of={problem} retry={reload} />;
  return (
    <section aria-labelledby="own-limits">
      <h2 id="own-limits">{title}</h2>
      {value === null ? (
        <div class="figures waiting">
          <Skeleton />
        </div>
      ) : (
        value.data.map((spending) => <Figures key={spending.spender} of={spending} />)
      )}
    </section>
  );
}

function Figures({ of: { limits, spent } }: { readonly of: Spending }): JSX.Element {
  const others = limitsInWords(limits);
  return (
    <dl class="figures">
      <div>
        <dt>Spent today</dt>
        <dd>
          <Meter label="Spent of today’s budget" spent={spent.day_usdc} budget={limits.day_usdc ?? null} />
        </dd>
      </div>
      <div>
        <dt>This month</dt>
        <dd>
          <Meter
            label="Spent of this month’s budget"
            spent={spent.month_usdc}
            budget={limits.month_usdc ?? null}
          />
        </dd>
      </div>
      <div>
        <dt>Other limits</dt>
        <dd class="note">{others === '' ? 'none' : others}</dd>
      </div>
    </dl>
  );
}
