import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api.ts';
import { AccountOnly } from '../../components/account-only.tsx';
import { Meter } from '../../components/meter.tsx';
import { More } from '../../components/more.tsx';
import { Empty, Skeleton } from '../../components/states.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { identity } from '../../identity/identity.ts';
import { useListing } from '../../listing.ts';
import { useLoad } from '../../load.ts';
import { query, setQuery } from '../../router.ts';
import type { ApiKey, NewKey } from './documents.ts';
import { KeyDialog } from './key.tsx';
import { limitsInWords } from './limits.ts';
import { MakeKey } from './make.tsx';
import { OwnLimits } from './own-limits.tsx';
import { Secret } from './secret.tsx';

const title = 'Keys';

/** The keys of the account: what each may spend, and what it spent. */
export function Page(): JSX.Element {
  const list = useListing<ApiKey>('keys', '/v1/keys', {});
  const account = useLoad('account', (signal) => api<{ account: string }>('/v1/balance', { signal }));
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState<NewKey | null>(null);
  const chosen = list.rows.find(({ id }) => id === query.value.get('key'));
  const isOwn = ({ id }: ApiKey): boolean => account.value?.account === `caller:${id}`;
  const closeChosen = (): void => setQuery({ key: null }, 'replace');
  const showSecret = (key: NewKey): void => {
    setMaking(false);
    closeChosen();
    setMade(key);
    list.reload();
  };
  // It stands above whatever becomes of the list: the key that was rotated may be the one that reads it.
  const secret = made !== null && <Secret of={made} close={() => setMade(null)} />;
  if (list.problem !== null)
    return (
      <>
        <h1>{title}</h1>
        {secret}
        <AccountOnly
          problem={list.problem}
          retry={list.reload}
          title="Sign in to see your keys"
          why="The owner of an account makes keys here, limits what each may spend, and revokes them."
        />
        {list.problem.code === 'key_cannot_manage' && <OwnLimits title="What this key may spend" />}
      </>
    );
  return (
    <>
      <header class="title">
        <h1>{title}</h1>
        <div class="tools">
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            Make a key
          </button>
        </div>
      </header>
      {identity.value?.way === 'did' && (
        <OwnLimits title="Your account: all calls that you and your keys make" />
      )}
      {list.rows.length > 0 ? (
        <Table
          label="Keys, newest first"
          columns={columnsOf(isOwn)}
          rows={list.rows}
          keyOf={({ id }) => id}
          href={({ id }) => `/keys?key=${id}`}
          busy={list.busy}
        />
      ) : list.busy ? (
        <Skeleton rows={4} />
      ) : (
        <Empty title="No keys yet">
          <p>
            Each program can have a key of its own, with its own budget. All of them spend from your balance.
          </p>
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            Make the first key
          </button>
        </Empty>
      )}
      <More of={list}>Show older keys</More>
      {making && <MakeKey close={() => setMaking(false)} made={showSecret} />}
      {secret}
      {chosen !== undefined && (
        <KeyDialog
          of={chosen}
          isOwn={isOwn(chosen)}
          close={closeChosen}
          changed={list.reload}
          rotated={showSecret}
        />
      )}
    </>
  );
}

function columnsOf(isOwn: (key: ApiKey) => boolean): readonly Column<ApiKey>[] {
  return [
    {
      title: 'Name',
      cell: (key) => (key.name === null ? <code>{key.id}</code> : key.name),
    },
    { title: 'State', width: 17, yields: 1, cell: (key) => <State of={key} isOwn={isOwn(key)} /> },
    {
      title: 'Spent today',
      width: 24,
      cell: ({ spent, limits }) => (
        <Meter label="Spent of today’s budget" spent={spent.day_usdc} budget={limits.day_usdc ?? null} />
      ),
    },
    {
      title: 'This month',
      width: 24,
      yields: 1,
      cell: ({ spent, limits }) => (
        <Meter
          label="Spent of this month’s budget"
          spent={spent.month_usdc}
          budget={limits.month_usdc ?? null}
        />
      ),
    },
    {
      title: 'Other limits',
      yields: 2,
      cell: ({ limits }) => {
        const words = limitsInWords(limits);
        return words === '' ? <i class="none">–</i> : <span title={words}>{words}</span>;
      },
    },
    {
      title: 'Last used',
      width: 16,
      yields: 2,
      cell: ({ last_used_at: at }) => (at === null ? <i class="none">never</i> : <Time at={at} />),
    },
    { title: 'Made', width: 16, yields: 2, cell: ({ created_at: at }) => <Time at={at} /> },
  ];
}

function State({ of: key, isOwn }: { readonly of: ApiKey; readonly isOwn: boolean }): JSX.Element {
  if (key.revoked_at !== null)
    return (
      <span class="badge" data-state="fail">
        Revoked
      </span>
    );
  if (key.expires_at !== null && Date.parse(key.expires_at) <= Date.now())
    return (
      <span class="badge" data-state="fail">
        Expired
      </span>
    );
  if (isOwn) return <span class="badge">Account’s own</span>;
  return (
    <span class="badge" data-state="pass">
      {key.manages ? 'Active, manages' : 'Active'}
    </span>
  );
}
