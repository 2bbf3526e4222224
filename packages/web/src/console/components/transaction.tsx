import type { JSX } from 'preact';
import { transactionUrl } from '../networks.ts';
import { CopyButton } from './copy-button.tsx';
import { Icon } from './icon.tsx';

/** A transaction's hash, with a link to the chain's explorer where it has one. @param hash `0x` and 64 hex */
export function Transaction({
  hash,
  chainId,
}: {
  readonly hash: string;
  readonly chainId: number | null;
}): JSX.Element {
  const address = chainId === null ? null : transactionUrl(`eip155:${chainId}`, hash);
  const shown = <code title={hash}>{shortHash(hash)}</code>;
  return (
    <span class="transaction">
      {address === null ? (
        shown
      ) : (
        <a href={address} target="_blank" rel="noreferrer" aria-label={`Transaction ${hash}`}>
          {shown} <Icon name="external" />
        </a>
      )}
      <CopyButton text={hash} what="transaction’s hash" />
    </span>
  );
}

/** The ends of a hash: `0x3d23…a201`. */
export const shortHash = (hash: string): string => `${hash.slice(0, 8)}…${hash.slice(-6)}`;
