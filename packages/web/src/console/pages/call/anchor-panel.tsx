import type { JSX } from 'preact';
import { Time } from '../../components/time.tsx';
import { Transaction } from '../../components/transaction.tsx';
import { count } from '../../format/number.ts';
import type { Anchor, Proof } from './proof.ts';

/** Where the receipt of a call is anchored, or until when that waits. @param proof null while there is none */
export function AnchorPanel({ proof }: { readonly proof: Proof | null }): JSX.Element {
  return (
    <section class="part" aria-labelledby="anchor">
      <h2 id="anchor">Anchor</h2>
      {proof === null ? (
        <p class="fine">The receipt is looked up first.</p>
      ) : (
        <Facts of={proof.anchor} chainId={proof.chainId} />
      )}
    </section>
  );
}

function Facts({
  of,
  chainId,
}: {
  readonly of: Anchor | null;
  readonly chainId: number | null;
}): JSX.Element {
  if (of === null) {
    return (
      <p class="fine">
        It is not anchored: the log does not hold it. A call with <code>svc.anchor</code> is.
      </p>
    );
  }
  if ('batch_id' in of) {
    const { anchor_ref, batch_id, eta_seconds } = of;
    return (
      <dl class="terms">
        <div>
          <dt>Place in the log</dt>
          <dd>{count(indexIn(anchor_ref))}</dd>
        </div>
        <div>
          <dt>Anchored</dt>
          <dd>
            {eta_seconds > 0
              ? 'not yet: it waits for the posting of '
              : 'not yet: its posting is overdue since '}
            <Time at={`${batch_id.slice(0, -1)}:00Z`} />
          </dd>
        </div>
      </dl>
    );
  }
  return (
    <dl class="terms">
      <div>
        <dt>Place in the log</dt>
        <dd>
          {count(of.leaf_index)} of the {count(of.tree_size)} that the posting covers
        </dd>
      </div>
      <div>
        <dt>Anchored</dt>
        <dd>
          in block {count(of.block_height)} of {of.network}, final by <Time at={of.verified_at} />
        </dd>
      </div>
      <div>
        <dt>Transaction</dt>
        <dd>
          <Transaction hash={of.tx_hash} chainId={chainId} />
        </dd>
      </div>
    </dl>
  );
}

/** The leaf's index, which an anchor's reference ends with, in base 36. */
function indexIn(reference: string): number {
  return Number.parseInt(reference.slice(reference.lastIndexOf(':') + 1), 36);
}
