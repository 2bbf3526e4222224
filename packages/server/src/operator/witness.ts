import { print, printJson, readKeyFile, remark, unreadable } from '@tallystick/cli/toolkit';
import { type VerifierKey, witnessKey } from '@tallystick/core';
import { createWitness, listen, openWitnessState } from '../index.ts';

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
  const verifierKey = witnessKey(name, signer.publicKey);
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  const url = `http://${host}:${address.port}`;
  if (json) printJson({ verifier_key: verifierKey, url });
  else print(verifierKey);
  remark(
    `The witness is ready on ${url}. A log is given it as: TALLY_WITNESSES='${verifierKey} <its public URL>'`,
  );
  await closed;
}
