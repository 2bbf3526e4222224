import type { JSX } from 'preact';
import { shortMoney } from '../format/money.ts';

/** An amount in four significant digits; the exact one in USDC is its title. @param of decimal text */
export function Money({ of }: { readonly of: string }): JSX.Element {
  return <Shown of={of} as={shortMoney(of)} />;
}

/** What is in an account, as `Money` shows an amount, but never as more than there is. @param of decimal text */
export function Funds({ of }: { readonly of: string }): JSX.Element {
  return <Shown of={of} as={shortMoney(of, 'down')} />;
}

function Shown({ of, as }: { readonly of: string; readonly as: string }): JSX.Element {
  return (
    <data class="money" value={of} title={`${of} USDC`}>
      {as}
    </data>
  );
}
