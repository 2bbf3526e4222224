import type { JSX } from 'preact';
import { shortMoney } from '../format/money.ts';

/** An amount in four significant digits; the exact one in USDC is its title. @param of decimal text */
export function Money({ of }: { readonly of: string }): JSX.Element {
  return (
    <data class="money" value={of} title={`${of} USDC`}>
      {shortMoney(of)}
    </data>
  );
}
