import { readFileSync } from 'node:fs';
import {
  type AnchorAuthority,
  type AnchorHistory,
  cosignCheckpoint,
  createSigner,
  defaultEngine,
  type IssuerRecord,
  type JsonObject,
  parseWitnessPolicy,
  sha256,
  trustOf,
  utf8,
  type VerifyOptions,
  verify,
  verifyEd25519,
  witnessKey,
} from '@tallystick/core';
import { transactionOf } from '../packages/core/test/receipt-vectors.ts';
import type { AnchorCase } from '../scripts/vectors/anchor-base.ts';
import type { Report } from './report.ts';
import { row } from './row.ts';

const ROUNDS = 15;
const ROUND_MS = 300;
const EARLIER_LOGS = 10;
const EARLIER_ACCOUNTS = 20;
const AT = Date.parse('2026-01-15T12:00:00Z') / 1000;

/**
 * Measures the verification of an anchored receipt with a trust bundle that has a long history, and with a witness
 * policy, beside the same without either.
 */
export async function proofs(): Promise<Report> {
  const vector = caseOf();
  const { document, anchor, transaction, authority, now } = vector;
  const { witnessed, policies } = await cosigned(anchor);
  const plain = {
    now: Date.parse(now),
    anchor,
    transaction: transactionOf(transaction),
    trust: trustOf(vector.issuers, [authority]),
  };
  const history = {
    ...plain,
    trust: trustOf(vector.issuers, [{ ...authority, history: historyOf(authority) }]),
  };
  const variants = {
    plain,
    history,
    one: { ...history, anchor: witnessed, witnessPolicy: parseWitnessPolicy(policies.one) },
    two: { ...history, anchor: witnessed, witnessPolicy: parseWitnessPolicy(policies.two) },
  } satisfies Record<string, VerifyOptions>;
  for (const options of Object.values(variants)) await requireAnchored(document, options);
  const signature = await aSignature();

  const rounds: Record<keyof typeof variants | 'raw', number>[] = [];
  for (let round = -2; round < ROUNDS; round++) {
    const rates = {
      raw: await rateOf(() =>
        verifyEd25519(defaultEngine, signature.publicKey, signature.message, signature.signature),
      ),
      plain: await rateOf(() => verify(document, variants.plain)),
      history: await rateOf(() => verify(document, variants.history)),
      one: await rateOf(() => verify(document, variants.one)),
      two: await rateOf(() => verify(document, variants.two)),
    };
    // The first rounds warm up.
    if (round >= 0) rounds.push(rates);
  }
  const times = (name: keyof typeof variants) => (round: (typeof rounds)[number]) =>
    round.plain / round[name];
  return {
    title: 'The verification of an anchored receipt, one after the other on one thread',
    method: `Medians of ${ROUNDS} rounds of ${ROUND_MS} ms, the variants in turn. A receipt with its anchor's path, checkpoint and transaction: two signatures; each witness of a policy has one more. A ratio is of the times in the same round.`,
    rows: [
      row(rounds, 'raw Ed25519 verification by the same engine', '/s', ({ raw }) => raw),
      row(rounds, 'with neither', '/s', ({ plain: rate }) => rate),
      row(rounds, 'two raw verifications / with neither', '', ({ raw, plain: rate }) => (2 * rate) / raw),
      row(
        rounds,
        `with ${EARLIER_LOGS} earlier logs and ${EARLIER_ACCOUNTS} accounts / with neither`,
        '×',
        times('history'),
        { at_most: 1.2 },
      ),
      row(rounds, 'the same, and a policy of 1 witness / with neither', '×', times('one')),
      row(rounds, 'the same, and a policy of 2 of 3 witnesses / with neither', '×', times('two')),
    ],
  };
}

type Case = Required<Pick<AnchorCase, 'authority' | 'now'>> & {
  readonly document: JsonObject;
  readonly anchor: JsonObject;
  readonly transaction: Parameters<typeof transactionOf>[0];
  readonly issuers: readonly IssuerRecord[];
};

/** The first vector of anchors, whose checkpoint and transaction are good, and its issuers. */
function caseOf(): Case {
  const [first] = read('anchors.json') as (Case & { readonly trust: string })[];
  if (first === undefined) throw new RangeError('There are no vectors of anchors.');
  const stores = read('issuer-stores.json') as Record<string, IssuerRecord[]>;
  return { ...first, issuers: stores[first.trust] ?? [] };
}

function read(file: string): unknown {
  return JSON.parse(readFileSync(new URL(`../spec/vectors/${file}`, import.meta.url), 'utf8'));
}

/** The anchor with the cosignatures of three witnesses, and policies that name one of them, and all. */
async function cosigned(anchor: JsonObject) {
  const note = anchor['checkpoint'] as string;
  const names = ['a', 'b', 'c'];
  const witnesses = await Promise.all(
    names.map(async (name) => ({
      name: `witness.example/${name}`,
      signer: await createSigner(sha256(utf8(`witness ${name}`))),
    })),
  );
  const lines = await Promise.all(witnesses.map((witness) => cosignCheckpoint(note, witness, AT)));
  const known = witnesses.map(
    ({ name, signer }, i) => `witness ${names[i]} ${witnessKey(name, signer.publicKey)}\n`,
  );
  return {
    witnessed: { ...anchor, checkpoint: note + lines.join('') },
    policies: {
      one: utf8(`${known[0]}quorum a\n`),
      two: utf8(`${known.join('')}group g 2 a b c\nquorum g\n`),
    },
  };
}

function historyOf({ log, chain }: AnchorAuthority): AnchorHistory {
  if (log === null || chain === null) throw new RangeError('The vector has a log and a chain.');
  const span = { valid_from: '2025-01-01T00:00:00Z', valid_until: '2026-01-01T00:00:00Z' };
  return {
    logs: Array.from({ length: EARLIER_LOGS }, (_, i) => ({
      ...log,
      origin: `${log.origin}/${i}`,
      last_size: i,
      ...span,
    })),
    chains: Array.from({ length: EARLIER_ACCOUNTS }, (_, i) => ({
      origin: `${log.origin}/${i % EARLIER_LOGS}`,
      ...chain,
      chain_id: chain.chain_id + i,
      ...span,
    })),
  };
}

/** What is measured must be the whole verification. */
async function requireAnchored(document: JsonObject, options: VerifyOptions): Promise<void> {
  const { valid, issuer, checks } = await verify(document, options);
  const bad = checks.filter(({ ok }) => ok !== true).map(({ name }) => name);
  if (!valid || !issuer.trusted || bad.some((name) => name.startsWith('anchor') || name === 'witnessed'))
    throw new Error(`The receipt is not verified as it should be: ${JSON.stringify(checks)}`);
}

async function aSignature() {
  const signer = await createSigner(sha256(utf8('raw')));
  const message = new Uint8Array(900).fill(7);
  return { publicKey: signer.publicKey, message, signature: await signer.sign(message) };
}

async function rateOf(work: () => unknown): Promise<number> {
  const start = performance.now();
  let done = 0;
  let now = start;
  while (now - start < ROUND_MS) {
    await work();
    done += 1;
    now = performance.now();
  }
  return (done * 1000) / (now - start);
}
