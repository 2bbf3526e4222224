import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { ExportButtons } from '../../components/export-buttons.tsx';
import { Icon } from '../../components/icon.tsx';
import { More } from '../../components/more.tsx';
import { Empty, Problem, Skeleton } from '../../components/states.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { shortHash } from '../../components/transaction.tsx';
import { count, counted } from '../../format/number.ts';
import { useShortcuts } from '../../frame/shortcuts.ts';
import { useListing } from '../../listing.ts';
import { query, setQuery } from '../../router.ts';
import { type Leaf, STATES } from './documents.ts';

/** The hashes in the log, the newest first, or from an index on. @param accepted how many there are by now, if known */
export function Leaves({ accepted }: { readonly accepted: number | null }): JSX.Element {
  const asked = query.value.get('from_index');
  const from = asked !== null && /^\d{1,15}$/.test(asked) ? asked : null;
  const list = useListing<Leaf>(`leaves ${from}`, '/v1/log/leaves', { from_index: from });
  const newest = list.rows[0]?.leaf_index ?? -1;
  const newer = accepted === null || list.rows.length === 0 ? 0 : accepted - 1 - newest;
  return (
    <section aria-label="Leaves">
      <div class="finder">
        <Finder />
        <ExportButtons path="/v1/log/leaves" name="leaves" query={{ from_index: from }} />
      </div>
      {newer > 0 && (
        <button
          type="button"
          class="newer"
          onClick={() => (from === null ? list.reload() : setQuery({ from_index: null }))}
        >
          {counted(newer, 'newer leaf', 'newer leaves')}: show the newest
        </button>
      )}
      {list.problem !== null ? (
        <Problem of={list.problem} retry={list.reload} />
      ) : list.rows.length > 0 ? (
        <Table
          label="Leaves, the newest first"
          columns={COLUMNS}
          rows={list.rows}
          keyOf={({ leaf_index }) => String(leaf_index)}
          href={({ canonical_sha256 }) => withHash(canonical_sha256)}
          busy={list.busy}
        />
      ) : list.busy ? (
        <Skeleton rows={10} />
      ) : (
        <Empty title="No hash is in the log yet">
          <p>
            Anchor one with <code>tally anchor</code>, or mint a receipt with <code>anchor: true</code> and an
            API key.
          </p>
        </Empty>
      )}
      <More of={list}>Show lower indexes</More>
    </section>
  );
}

/** The address of this page with a leaf opened. */
function withHash(hash: string): string {
  const members = new URLSearchParams(query.value);
  members.set('hash', hash);
  return `/log?${members}`;
}

/** Takes an index or a hash. */
function Finder(): JSX.Element {
  const box = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState('');
  useShortcuts({ '/': () => box.current?.focus() });
  const find = async (event: Event): Promise<void> => {
    event.preventDefault();
    const text = box.current?.value.trim() ?? '';
    const { hashIn } = await import('./look-up.ts');
    const index = text.replaceAll(/[,\s]/g, '');
    if (text !== '' && !/^\d{1,15}$/.test(index) && hashIn(text) === null) {
      return setProblem(
        'That is neither the index of a leaf nor a hash. A hash has 32 bytes: 43 characters of canonical base64url, or 64 of hex.',
      );
    }
    setProblem('');
    if (/^\d{1,15}$/.test(index)) setQuery({ from_index: index });
    else if (text === '') setQuery({ from_index: null });
    else setQuery({ hash: text });
  };
  return (
    <form class="search wide" role="search" onSubmit={(event) => void find(event)}>
      <Icon name="search" />
      <input
        ref={box}
        id="find-leaf"
        aria-label="Index of a leaf, or a hash"
        aria-describedby={problem === '' ? undefined : 'find-problem'}
        aria-invalid={problem !== ''}
        placeholder="Index of a leaf, or a hash in base64url or hex"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        defaultValue={query.peek().get('from_index') ?? ''}
        onKeyDown={({ key, currentTarget }) => key === 'Escape' && currentTarget.blur()}
      />
      <kbd aria-hidden="true">/</kbd>
      {problem !== '' && (
        <p class="wrong" id="find-problem" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}

const COLUMNS: readonly Column<Leaf>[] = [
  { title: 'Index', width: 14, cell: ({ leaf_index }) => count(leaf_index) },
  {
    title: 'Hash',
    cell: ({ canonical_sha256 }) => <code title={canonical_sha256}>{canonical_sha256}</code>,
  },
  {
    title: 'Posting due',
    width: 17,
    yields: 1,
    cell: ({ batch_id }) => <Time at={`${batch_id.slice(0, -1)}:00Z`} />,
  },
  { title: 'On the chain', width: 15, cell: ({ posting }) => <State of={posting} /> },
  {
    title: 'Transaction',
    width: 22,
    yields: 2,
    cell: ({ posting }) =>
      posting?.tx_hash ? (
        <code title={posting.tx_hash}>{shortHash(posting.tx_hash)}</code>
      ) : (
        <i class="none">–</i>
      ),
  },
];

function State({ of }: { readonly of: Leaf['posting'] }): JSX.Element {
  if (of === null) return <i class="none">Waiting</i>;
  return (
    <span class="state" data-state={of.state === 'finalized' ? 'pass' : 'unknown'}>
      {STATES[of.state]}
    </span>
  );
}
