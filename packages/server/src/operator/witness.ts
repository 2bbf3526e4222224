import { print, printJson, readSecretKey, remark, unreadable } from '@tallystick/cli/toolkit';
import { createSigner, type VerifierKey, witnessKey } from '@tallystick/core';
import { nodeMlDsaCosigner } from '@tallystick/kit';
import { createWitness, openWitnessState } from '@tallystick/log';
import { listen } from '../app/listen.ts';

export interface WitnessOptions {
  readonly name: string;
  readonly key: string;
  readonly log: readonly VerifierKey[];
  readonly listen: { readonly host: string; readonly port: number };
  readonly state: string;
  readonly mlDsa?: boolean;
  readonly json?: boolean;
}

/** Runs a witness until SIGTERM or SIGINT. Prints its keys, which logs and clients need. */
export async function witness({
  name,
  key,
  log,
  listen: at,
  state: path,
  mlDsa = false,
  json,
}: WitnessOptions): Promise<void> {
  const secret = await readSecretKey(key);
  const signer = await createSigner(secret);
  const second = mlDsa ? nodeMlDsaCosigner(secret) : null;
  const state = await openWitnessState(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  const logs = log.map(({ name: origin, publicKey }) => ({ origin, publicKey }));
  const fetch = createWitness({
    name,
    signers: second === null ? [signer] : [signer, second],
    logs,
    state,
    clock: Date.now,
  });
  const { address, closed } = await listen({
    ...at,
    option: '--listen',
    open: () => Promise.resolve({ fetch, close: () => Promise.resolve() }),
  });
  const verifierKey = witnessKey(name, signer.publicKey);
  const mlDsaKey = second === null ? null : witnessKey(name, second.publicKey);
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  const url = `http://${host}:${address.port}`;
  if (json) printJson({ verifier_key: verifierKey, ...(mlDsaKey && { ml_dsa_verifier_key: mlDsaKey }), url });
  else for (const one of mlDsaKey === null ? [verifierKey] : [verifierKey, mlDsaKey]) print(one);
  remark(
    `The witness is ready on ${url}. A log is given it as: TALLY_WITNESSES='${verifierKey} <its public URL>'`,
  );
  if (mlDsaKey !== null)
    remark('A log that wants the cosignature by ML-DSA-44 too is given the second key with the same URL.');
  await closed;
}
