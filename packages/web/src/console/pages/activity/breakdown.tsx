import type { JSX } from 'preact';
import { api } from '../../api.ts';
import { Bars } from '../../components/bars.tsx';
import { Money } from '../../components/money.tsx';
import { Problem, Skeleton } from '../../components/states.tsx';
import { sumMoney } from '../../format/money.ts';
import { count } from '../../format/number.ts';
import { useLoad } from '../../load.ts';
import { query, setQuery } from '../../router.ts';
import type { CallCounts, CountsAnswer } from './documents.ts';
import type { Range } from './range.ts';

const PARTS = { model: 'Models', provider: 'Providers', status: 'Statuses', key: 'Keys' } as const;
type Part = keyof typeof PARTS;
const SHOWN = 8;

/** The calls of a range by model, provider, status or key; pressing one makes it a filter. */
export function Breakdown({
  range,
  filters,
}: {
  readonly range: Range;
  readonly filters: Readonly<Record<string, string>>;
}): JSX.Element {
  const by = partIn(query.value);
  const { value, problem, reload } = useLoad(JSON.stringify([range, filters, by]), async (signal) => {
    // In larger buckets, the service would also count what is beside the range.
    const members = { ...filters, ...range, by };
    const { data } = await api<CountsAnswer>('/v1/compute/calls/counts', { query: members, signal });
    return sums(data);
  });
  return (
    <section class="breakdown" aria-label={PARTS[by]}>
      <div class="ways" role="group" aria-label="Break down by">
        {(Object.keys(PARTS) as Part[]).map((name) => (
          <button
            type="button"
            key={name}
            aria-pressed={name === by}
            onClick={() => setQuery({ by: name === 'model' ? null : name }, 'replace')}
          >
            {PARTS[name]}
          </button>
        ))}
      </div>
      {problem !== null && <Problem of={problem} retry={reload} />}
      {value === null && problem === null && <Skeleton rows={3} />}
      {value?.length === 0 && <p class="fine">There is nothing to break down.</p>}
      {value !== null && value.length > 0 && (
        <Bars
          label={PARTS[by]}
          bars={value.slice(0, SHOWN).map(({ name, calls, cost }) => ({
            name,
            value: calls,
            shown: (
              <>
                {count(calls)} <Money of={cost} />
              </>
            ),
            onPick: () => setQuery({ [by]: name }),
          }))}
        />
      )}
    </section>
  );
}

function partIn(query: URLSearchParams): Part {
  const by = query.get('by') ?? '';
  return Object.hasOwn(PARTS, by) ? (by as Part) : 'model';
}

/** Puts the buckets of each part together, the part with the most calls first. */
function sums(rows: readonly CallCounts[]): { name: string; calls: number; cost: string }[] {
  const parts = Map.groupBy(
    rows.filter((row) => row.by !== null),
    (row) => row.by ?? '',
  );
  return [...parts]
    .map(([name, rows]) => ({
      name,
      calls: rows.reduce((sum, row) => sum + row.calls, 0),
      cost: sumMoney(rows.map((row) => row.cost_usdc)),
    }))
    .toSorted((one, other) => other.calls - one.calls);
}
