import type { JSX } from 'preact';
import { Checks } from '../../components/checks.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Problem, Skeleton } from '../../components/states.tsx';
import type { Loading } from '../../load.ts';
import type { CallDetail } from './documents.ts';
import type { Proof } from './proof.ts';

/** The receipt of a call with its verdict. */
export function ProofPanel({
  call,
  proof,
}: {
  readonly call: CallDetail;
  readonly proof: Loading<Proof>;
}): JSX.Element {
  const { receipt_id: id } = call;
  return (
    <section class="part" aria-labelledby="receipt">
      <h2 id="receipt">Receipt</h2>
      {id === null ? (
        <p class="fine">
          A call that is not answered has no receipt: nothing was delivered, and nothing charged.
        </p>
      ) : (
        <>
          <p class="id">
            <a href={`/receipts#${id}`}>
              <code>{id}</code>
            </a>
            <CopyButton text={id} what="receipt id" />
          </p>
          {proof.problem !== null && <Problem of={proof.problem} retry={proof.reload} />}
          {proof.value === null ? (
            proof.problem === null && <Skeleton rows={11} />
          ) : (
            <Checks of={proof.value.verdict} open />
          )}
        </>
      )}
    </section>
  );
}
