import type { JSX } from 'preact';
import { Money } from './money.tsx';

/** An amount that was spent, with a bar that shows how much of its budget that is. @param budget null for none */
export function Meter({
  label,
  spent,
  budget,
}: {
  readonly label: string;
  readonly spent: string;
  readonly budget: string | null;
}): JSX.Element {
  if (budget === null)
    return (
      <span class="meter">
        <Money of={spent} />
      </span>
    );
  const share = Number(budget) === 0 ? 1 : Math.min(Number(spent) / Number(budget), 1);
  return (
    <span class="meter" data-state={share >= 1 ? 'fail' : share >= 0.8 ? 'near' : 'pass'}>
      <span>
        <Money of={spent} /> <small>of</small> <Money of={budget} />
      </span>
      <span
        class="track"
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(share * 100)}
      >
        <i style={{ width: `${share * 100}%` }} />
      </span>
    </span>
  );
}
