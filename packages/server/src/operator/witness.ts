import { print, printJson, readKeyFile, remark, unreadable } from '@tallystick/cli/toolkit';
import { noteKeyHash, type Signer, type VerifierKey } from '@tallystick/core';
import { createWitness, listen, openWitnessState } from '../index.ts';

/** The type of cosignature keys (C2SP tlog-cosignature). */
const COSIGNATURE = 0x04;

export interface WitnessOptions {
  readonly name: string;
  readonly key: string;
  readonly log: readonly VerifierKey[];
  readonly listen: { readonly host: string; readonly port: number };
  readonly state: string;
  readonly json?: boolean;
}

/** Runs a witness until SIGTERM or SIGINT. Prints its key, which logs and clients need. */
export async function witness({
  name,
  key,
  log,
  listen: at,
  state: path,
  json,
}: WitnessOptions): Promise<void> {
  const signer = await readKeyFile(key);
  const state = await openWitnessState(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  const logs = log.map(({ name: origin, publicKey }) => ({ origin, publicKey }));
  const fetch = createWitness({ name, signer, logs, state, clock: Date.now });
  const { address, closed } = await listen({
    ...at,
    open: () => Promise.resolve({ fetch, close: () => Promise.resolve() }),
  });
  const verifierKey = cosignatureKey(name, signer);
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  const url = `http://${host}:${address.port}`;
  if (json) printJson({ verifier_key: verifierKey, url });
  else print(verifierKey);
  remark(
    `The witness is ready on ${url}. A log is given it as: TALLY_WITNESSES='${verifierKey} <its public URL>'`,
  );
  await closed;
}

/** The witness's key as clients are configured with it (C2SP signed-note, tlog-cosignature). */
function cosignatureKey(name: string, { publicKey }: Signer): string {
  const id = noteKeyHash(name, COSIGNATURE, publicKey).toString(16).padStart(8, '0');
  return `${name}+${id}+${Buffer.from([COSIGNATURE, ...publicKey]).toString('base64')}`;
}
