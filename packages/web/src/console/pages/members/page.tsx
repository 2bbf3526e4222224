import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api.ts';
import { AccountOnly } from '../../components/account-only.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Empty, Skeleton } from '../../components/states.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { count } from '../../format/number.ts';
import { useLoad } from '../../load.ts';
import { query, setQuery } from '../../router.ts';
import type { RankedMember } from './documents.ts';
import { Join } from './join.tsx';
import { Savings } from './savings.tsx';
import { Tiers, tierName } from './tiers.tsx';

const title = 'Members';

const MOST = 100;

/** The members with the most completed calls, and how to become one. */
export function Page(): JSX.Element {
  const { value, problem, reload } = useLoad('members', (signal) =>
    api<{ members: readonly RankedMember[] }>('/v1/compute/member/leaderboard', {
      query: { limit: MOST },
      signal,
    }),
  );
  const [joining, setJoining] = useState(false);
  const chosen = value?.members.find(({ did }) => did === query.value.get('did'));
  const join = (
    <button type="button" class="primary" onClick={() => setJoining(true)}>
      Register a DID
    </button>
  );
  return (
    <>
      <header class="title">
        <h1>{title}</h1>
        <div class="tools">{join}</div>
      </header>
      <p class="lede">
        A member is a DID that was registered, which is free and needs no account. Send it as{' '}
        <code>X-Agent-DID</code> with your calls: each that is completed and paid counts, and a higher tier
        gives back a larger share of what compression saves. Members are public; amounts and prompts are not.
      </p>
      <Tiers />
      <h2 class="section">Most calls first</h2>
      {problem !== null ? (
        <AccountOnly
          problem={problem}
          retry={reload}
          title="Sign in to see the members"
          why="This service charges for reading without a name. With a key or a DID it is free."
        />
      ) : value === null ? (
        <Skeleton rows={20} />
      ) : value.members.length === 0 ? (
        <Empty title="Nobody has registered yet">
          <p>The first member is here as soon as it registers.</p>
          {join}
        </Empty>
      ) : (
        <Table
          label="Members, most calls first"
          columns={COLUMNS}
          rows={value.members}
          keyOf={({ did }) => did}
          href={({ did }) => `/members?did=${encodeURIComponent(did)}`}
        />
      )}
      {value !== null && value.members.length === MOST && (
        <p class="fine">These are the first {MOST}. A DID can be looked up in the reference.</p>
      )}
      {/* After the list, whose length moves what stands below it. */}
      {(value !== null || problem !== null) && <Savings />}
      {joining && (
        <Join
          close={() => setJoining(false)}
          joined={() => {
            reload();
          }}
        />
      )}
      {chosen !== undefined && <MemberDialog of={chosen} />}
    </>
  );
}

const COLUMNS: readonly Column<RankedMember>[] = [
  {
    title: 'Member',
    cell: ({ rank, handle, did }) => (
      <span title={did}>
        <span class="rank">{count(rank)}</span> {handle ?? <code>{did}</code>}
      </span>
    ),
  },
  { title: 'Tier', width: 16, yields: 1, cell: ({ tier }) => tierName(tier) },
  { title: 'Calls', width: 12, end: true, cell: ({ jobs }) => count(jobs) },
  {
    title: 'Calls to next tier',
    width: 20,
    end: true,
    yields: 2,
    cell: ({ jobs_to_next_tier: left }) => (left === null ? <i class="none">highest</i> : count(left)),
  },
  {
    title: 'Share of the saving',
    width: 22,
    end: true,
    yields: 1,
    cell: ({ spread_pct: share }) => `${share} %`,
  },
];

function MemberDialog({ of: member }: { readonly of: RankedMember }): JSX.Element {
  return (
    <Dialog title={member.handle ?? 'Member'} close={() => setQuery({ did: null }, 'replace')}>
      <dl class="terms">
        <div>
          <dt>DID</dt>
          <dd class="id">
            <code>{member.did}</code>
            <CopyButton text={member.did} what="DID" />
          </dd>
        </div>
        <div>
          <dt>Rank</dt>
          <dd>{count(member.rank)}</dd>
        </div>
        <div>
          <dt>Tier</dt>
          <dd>{tierName(member.tier)}</dd>
        </div>
        <div>
          <dt>Calls</dt>
          <dd>{count(member.jobs)}</dd>
        </div>
        <div>
          <dt>Registered</dt>
          <dd>
            <Time at={member.registered_at} />
          </dd>
        </div>
      </dl>
    </Dialog>
  );
}
