import type { Check, Verification } from '@tallystick/core';
import type { JSX } from 'preact';
import { counted } from '../format/number.ts';
import { Icon } from './icon.tsx';

/** The verdict on a receipt, with every check. @param open whether the checks are unfolded; those of what failed always are */
export function Checks({
  of,
  open = false,
}: {
  readonly of: Verification;
  readonly open?: boolean;
}): JSX.Element {
  const { state, title } = summaryOf(of);
  const failed = of.checks.filter(({ ok }) => ok === false).length;
  const passed = of.checks.filter(({ ok }) => ok === true).length;
  return (
    <section class="verdict" data-state={state} aria-label="Verdict">
      <h2>
        <Icon name={iconOf[state]} /> {title}
      </h2>
      <details open={open || failed > 0}>
        <summary>
          {failed > 0 ? `${failed} failed, ` : ''}
          {counted(passed, 'check')} passed
        </summary>
        <ul>
          {of.checks
            .toSorted((one, other) => rankOf(one) - rankOf(other))
            .map((check) => (
              <Line key={check.name} check={check} />
            ))}
        </ul>
      </details>
    </section>
  );
}

/** Failed checks come first, those that were not made last. */
const rankOf = ({ ok }: Check): number => (ok === null ? 2 : ok ? 1 : 0);

function Line({ check: { name, ok, detail } }: { readonly check: Check }): JSX.Element {
  const state = ok === null ? 'unknown' : ok ? 'pass' : 'fail';
  return (
    <li data-state={state}>
      <Icon name={iconOf[state]} />
      <span>
        <b>{name}</b> {detail}
      </span>
    </li>
  );
}

const iconOf = { pass: 'done', fail: 'close', unknown: 'unknown' } as const;

function summaryOf({ valid, issuer }: Verification): {
  readonly state: keyof typeof iconOf;
  readonly title: string;
} {
  if (!valid) return { state: 'fail', title: 'Not valid' };
  return issuer.trusted
    ? { state: 'pass', title: 'Valid, by the issuers that this service publishes' }
    : { state: 'unknown', title: 'Intact, from an issuer that this service does not vouch for' };
}
