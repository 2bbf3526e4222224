import { ed25519 } from '@noble/curves/ed25519.js';
import { createSigner as createCoreSigner, generateSecretKey, type Signer } from '@tallystick/core';
import { nodeSigner } from '@tallystick/kit';
import { createSigner, issue } from '@tallystick/sdk';
import { median } from './machine.ts';
import type { Report, Row } from './report.ts';

const ROUNDS = 5;
const ROUND_MS = 500;

/** Measures how fast each signer signs receipts of an issuer's own, one after the other. */
export async function signing(): Promise<Report> {
  const secretKey = generateSecretKey();
  const inCore = await createCoreSigner(secretKey);
  const signers: Readonly<Record<string, Signer>> = {
    'pure JavaScript': { ...inCore, sign: async (message) => ed25519.sign(message, secretKey) },
    'createSigner of core (WebCrypto)': inCore,
    'createSigner of the SDK (OpenSSL)': await createSigner(secretKey),
    'the service’s own signer (OpenSSL)': nodeSigner(secretKey),
  };
  const rates = new Map(Object.keys(signers).map((name): [string, number[]] => [name, []]));
  for (let round = -1; round < ROUNDS; round++) {
    for (const [name, signer] of Object.entries(signers)) {
      const rate = await issuedPerSecond(signer);
      // The first round warms up.
      if (round >= 0) rates.get(name)?.push(rate);
    }
  }
  const slowest = rates.get('pure JavaScript') ?? [];
  return {
    title: 'Receipts of an issuer’s own by `issue`, one after the other on one thread',
    method: `Medians of ${ROUNDS} rounds of ${ROUND_MS} ms, the signers in turn. A ratio is to pure JavaScript in the same round.`,
    rows: [...rates].flatMap(([name, rounds]): Row[] => {
      const ratios = rounds.map((rate, round) => rate / (slowest[round] ?? Number.NaN));
      return [
        { name, value: median(rounds), unit: '/s', rounds },
        { name: `${name}, ratio`, value: median(ratios), unit: '×', rounds: ratios },
      ];
    }),
  };
}

async function issuedPerSecond(issuerSk: Signer): Promise<number> {
  const start = performance.now();
  let issued = 0;
  let now = start;
  while (now - start < ROUND_MS) {
    await issue({
      symbol: 'USDC',
      units: 25,
      amountUsd: 24.99,
      recipient: '0x52908400098527886E0F7030069857D2E4169EE7',
      issuerSk,
    });
    issued += 1;
    now = performance.now();
  }
  return (issued * 1000) / (now - start);
}
