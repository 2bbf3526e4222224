import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api.ts';
import { AccountOnly } from '../../components/account-only.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Funds, Money } from '../../components/money.tsx';
import { Skeleton } from '../../components/states.tsx';
import { useLoad } from '../../load.ts';
import { query, setQuery } from '../../router.ts';
import type { Balance } from './documents.ts';
import { Statement } from './statement.tsx';
import { TopUp } from './top-up.tsx';
import { UsageTable } from './usage.tsx';

const title = 'Balance';

const VIEWS = { entries: 'Entries', usage: 'By day and model' } as const;

/** What is in the account, how to add to it, and what came in and went out. */
export function Page(): JSX.Element {
  const { value, problem, reload } = useLoad('balance', (signal) => api<Balance>('/v1/balance', { signal }));
  const [toppingUp, setToppingUp] = useState(false);
  const [turn, setTurn] = useState(0);
  const view = query.value.get('view') === 'usage' ? 'usage' : 'entries';
  if (problem !== null)
    return (
      <>
        <h1>{title}</h1>
        <AccountOnly
          problem={problem}
          retry={reload}
          title="Sign in to see your balance"
          why="What is in your account, what came in and what each call took is listed here."
        />
      </>
    );
  return (
    <>
      <header class="title">
        <h1>{title}</h1>
        <div class="tools">
          <button type="button" class="primary" disabled={value === null} onClick={() => setToppingUp(true)}>
            Top up
          </button>
        </div>
      </header>
      {value === null ? (
        <div class="figures waiting">
          <Skeleton />
        </div>
      ) : (
        <Figures of={value} />
      )}
      <header class="title section">
        <h2>Statement</h2>
        <div class="ways" role="group" aria-label="What is listed">
          {(Object.keys(VIEWS) as (keyof typeof VIEWS)[]).map((name) => (
            <button
              type="button"
              key={name}
              aria-pressed={name === view}
              onClick={() => setQuery({ view: name === 'entries' ? null : name }, 'replace')}
            >
              {VIEWS[name]}
            </button>
          ))}
        </div>
      </header>
      {view === 'entries' ? <Statement turn={turn} /> : <UsageTable />}
      {toppingUp && value !== null && (
        <TopUp
          account={value.account}
          close={() => setToppingUp(false)}
          credited={() => {
            reload();
            setTurn(turn + 1);
          }}
        />
      )}
    </>
  );
}

function Figures({ of: balance }: { readonly of: Balance }): JSX.Element {
  const account = balance.account.replace(/^caller:/, '');
  return (
    <>
      <dl class="figures">
        <div data-state={balance.low ? 'near' : undefined}>
          <dt>Available</dt>
          <dd>
            <Funds of={balance.available.usdc} />
          </dd>
          {balance.low && (
            <dd class="note">
              Low: below <Money of={balance.low_below.usdc} />. Calls that cost more than this are refused.
            </dd>
          )}
        </div>
        <div>
          <dt>Set aside for calls under way</dt>
          <dd>
            <Money of={balance.reserved.usdc} />
          </dd>
        </div>
        <div>
          <dt>In the account</dt>
          <dd>
            <Funds of={balance.balance.usdc} />
          </dd>
        </div>
      </dl>
      <p class="fine account">
        Account <code>{account}</code>
        <CopyButton text={account} what="name of the account" />
      </p>
    </>
  );
}
