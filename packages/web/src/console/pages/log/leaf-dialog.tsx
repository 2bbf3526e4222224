import type { JSX } from 'preact';
import { CopyButton } from '../../components/copy-button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Findings } from '../../components/findings.tsx';
import { Icon } from '../../components/icon.tsx';
import { Problem, Skeleton } from '../../components/states.tsx';
import { Transaction } from '../../components/transaction.tsx';
import { useLoad } from '../../load.ts';
import { setQuery } from '../../router.ts';
import type { LookUp } from './look-up.ts';

/** A hash, and whether it is in the log: its proof is checked here. @param text the hash as the address has it */
export function LeafDialog({
  text,
  chainId,
}: {
  readonly text: string;
  readonly chainId: number | null;
}): JSX.Element {
  const { value, problem, reload } = useLoad(text, async (signal) => {
    const { hashIn, lookUp } = await import('./look-up.ts');
    const hash = hashIn(text);
    return hash === null ? NO_HASH : lookUp(hash, signal);
  });
  return (
    <Dialog title="Is this hash in the log?" close={() => setQuery({ hash: null })}>
      <p class="id">
        <code>{text}</code>
        <CopyButton text={text} what="hash" />
      </p>
      {problem !== null ? (
        <Problem of={problem} retry={reload} />
      ) : value === null ? (
        <Skeleton rows={3} />
      ) : (
        <Result of={value} chainId={chainId} />
      )}
    </Dialog>
  );
}

const NO_HASH: LookUp = {
  state: 'unknown',
  title: 'That is not a hash',
  message: 'A hash has 32 bytes: 43 characters of canonical base64url, or 64 of hex.',
  index: null,
  place: null,
  findings: [],
};

const ICONS = { pass: 'done', fail: 'close', unknown: 'unknown' } as const;

function Result({
  of: { state, title, message, place, findings },
  chainId,
}: {
  readonly of: LookUp;
  readonly chainId: number | null;
}): JSX.Element {
  return (
    <section class="verdict" data-state={state} role="status">
      <h2>
        <Icon name={ICONS[state]} /> {title}
      </h2>
      <p>{message}</p>
      <Findings of={findings} />
      {place !== null && (
        <p class="fine">
          Transaction <Transaction hash={place.tx_hash} chainId={chainId} />
        </p>
      )}
    </section>
  );
}
