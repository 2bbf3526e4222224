import type { JSX } from 'preact';
import { api } from '../../api.ts';
import { Problem, Skeleton } from '../../components/states.tsx';
import { counted } from '../../format/number.ts';
import { useLoad } from '../../load.ts';
import type { Descriptor } from './documents.ts';

const NAMES: Readonly<Record<string, string>> = {
  member: 'Member',
  member_enterprise: 'Enterprise',
  member_scale: 'Scale',
};

export const tierName = (tier: string): string => NAMES[tier] ?? tier;

/** The tiers: from how many calls on, and which share of the saving each gives. */
export function Tiers(): JSX.Element {
  const { value, problem, reload } = useLoad('tiers', (signal) => api<Descriptor>('/v1/compute', { signal }));
  if (problem !== null) return <Problem of={problem} retry={reload} />;
  if (value === null)
    return (
      <div class="figures waiting">
        <Skeleton />
      </div>
    );
  return (
    <dl class="figures">
      {Object.entries(value.member_registration.tiers_at_jobs).map(([tier, jobs]) => (
        <div key={tier}>
          <dt>
            {tierName(tier)}, {jobs === 0 ? 'from the first call' : `from ${counted(jobs, 'call')}`}
          </dt>
          <dd>
            {value.routing_spread_pct[tier]} % <small>of the saving</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}
