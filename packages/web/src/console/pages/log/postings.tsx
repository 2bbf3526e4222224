import type { JSX } from 'preact';
import { CopyButton } from '../../components/copy-button.tsx';
import { ExportButtons } from '../../components/export-buttons.tsx';
import { More } from '../../components/more.tsx';
import { Empty, Problem, Skeleton } from '../../components/states.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { shortHash, Transaction } from '../../components/transaction.tsx';
import { count } from '../../format/number.ts';
import { useListing } from '../../listing.ts';
import { type LogStatus, type Posting, STATES } from './documents.ts';

/** The roots posted to the chain, the newest first. @param known whether it is known by now if there is a chain */
export function Postings({
  chain,
  known,
}: {
  readonly chain: LogStatus['chain'];
  readonly known: boolean;
}): JSX.Element {
  const list = useListing<Posting>('postings', '/v1/log/postings', {});
  return (
    <section aria-label="Postings to the chain">
      <div class="finder">
        <p class="fine">
          Each posting carries the root of all leaves up to it. This page does not ask the chain: compare the
          transaction on an explorer or a node.
        </p>
        <ExportButtons path="/v1/log/postings" name="postings" query={{}} />
      </div>
      {list.problem !== null ? (
        <Problem of={list.problem} retry={list.reload} />
      ) : list.rows.length > 0 ? (
        <Table
          label="Postings, the newest first"
          columns={columnsFor(chain?.chain_id ?? null)}
          rows={list.rows}
          keyOf={({ sequence }) => String(sequence)}
          href={({ tree_size }) => `/log?from_index=${Math.max(0, tree_size - 1)}`}
          busy={list.busy}
        />
      ) : list.busy || !known ? (
        <Skeleton rows={5} />
      ) : (
        <Empty title="Nothing posted yet">
          <p>
            {chain === null
              ? 'This service has no chain configured: roots are signed, but nothing proves their time. The operator can configure one (docs/operations.md).'
              : 'The first root goes to the chain at the next posting after a hash was accepted.'}
          </p>
        </Empty>
      )}
      <More of={list}>Show older postings</More>
    </section>
  );
}

const notYet = <i class="none">not yet</i>;

function columnsFor(chainId: number | null): readonly Column<Posting>[] {
  return [
    { title: 'No.', width: 9, cell: ({ sequence }) => count(sequence) },
    {
      title: 'Time of block',
      width: 18,
      cell: ({ block_time }) => (block_time === null ? notYet : <Time at={block_time} />),
    },
    {
      title: 'State',
      width: 13,
      yields: 1,
      cell: ({ state }) => (
        <span class="state" data-state={state === 'finalized' ? 'pass' : 'unknown'}>
          {STATES[state]}
        </span>
      ),
    },
    { title: 'Leaves', width: 12, end: true, cell: ({ tree_size }) => count(tree_size) },
    {
      title: 'Block',
      width: 14,
      end: true,
      yields: 2,
      cell: ({ block_height }) => (block_height === null ? notYet : count(block_height)),
    },
    {
      title: 'Transaction',
      cell: ({ tx_hash }) => (tx_hash === null ? notYet : <Transaction hash={tx_hash} chainId={chainId} />),
    },
    {
      title: 'Root',
      width: 26,
      yields: 2,
      cell: ({ merkle_root }) => (
        <>
          <code title={merkle_root}>{shortHash(merkle_root.replace('sha256:', ''))}</code>
          <CopyButton text={merkle_root.replace('sha256:', '')} what="root" />
        </>
      ),
    },
  ];
}
