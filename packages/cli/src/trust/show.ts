import type { KeyTimes, TrustBundle, TrustPin } from '@tallystick/core';
import { paint, print } from '../output.ts';
import { printable } from '../printable.ts';

/** Prints a bundle: its log, posting account and keys, those of its history, and which bundle came before. */
export function showBundle({ bundle, pin }: { readonly bundle: TrustBundle; readonly pin: TrustPin }): void {
  const { log, chain, history, issuers } = bundle;
  labelled('root', pin.root);
  labelled('version', `${bundle.version}, issued ${bundle.issued_at}, ${expiry(bundle)}`);
  labelled('before', before(bundle));
  labelled('log', log === null ? 'none' : logName(log));
  for (const one of history?.logs ?? []) {
    const last = one.last_size === null ? 'last size not known' : `up to ${one.last_size} leaves`;
    below(`earlier  ${logName(one)}  ${last}, ${span(one)}`);
  }
  labelled('account', chain === null ? 'none' : accountName(chain));
  for (const one of history?.chains ?? [])
    below(`earlier  ${accountName(one)} for ${printable(one.origin)}  ${span(one)}`);
  for (const { did, status, keys, pq_keys = [] } of issuers) {
    labelled('issuer', `${printable(did)}  ${status}`);
    for (const key of keys) showKey(key.purpose, key);
    for (const key of pq_keys) showKey(key.alg, key);
  }
}

function showKey(
  use: string,
  { state, key_id, revoked, ...times }: KeyTimes & { readonly key_id: string },
): void {
  const end = revoked === null ? '' : `, revoked at ${revoked.at} (${revoked.reason})`;
  below(`${printable(use).padEnd(10)} ${state.padEnd(8)} ${printable(key_id)}  ${span(times)}${end}`);
}

const labelled = (label: string, text: string): void => print(`${paint('bold', label.padEnd(7))}  ${text}`);
const below = (text: string): void => print(`           ${text}`);

/** The hash of the bundle before; earlier releases named none. */
function before({ version, previous_sha256 }: TrustBundle): string {
  if (previous_sha256 === undefined) return 'not named';
  return previous_sha256 === null ? 'none' : `version ${version - 1}, previous_sha256 ${previous_sha256}`;
}

const logName = ({ origin, key_id }: { readonly origin: string; readonly key_id: string }): string =>
  `${printable(origin)}  ${printable(key_id)}`;

const accountName = ({ address, network, chain_id }: NonNullable<TrustBundle['chain']>): string =>
  `${printable(address)} on ${printable(network)} (chain id ${chain_id})`;

/** Both times are optional: `from 2026-01-01T00:00:00Z until 2026-02-01T00:00:00Z`. */
function span({
  valid_from,
  valid_until,
}: {
  readonly valid_from: string | null;
  readonly valid_until: string | null;
}): string {
  const from = valid_from === null ? [] : [`from ${valid_from}`];
  const until = valid_until === null ? [] : [`until ${valid_until}`];
  return [...from, ...until].join(' ');
}

function expiry({ expires_at }: TrustBundle): string {
  const expired = Date.parse(expires_at) <= Date.now();
  return expired ? paint('red', `expired ${expires_at}`) : `expires ${expires_at}`;
}
