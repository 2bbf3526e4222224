import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type {
  AnchorCase,
  SettlementCase,
  SettlementFacts,
  TransactionFacts,
} from '../../../scripts/vectors/anchor-base.ts';
import type { CallCase } from '../../../scripts/vectors/calls.ts';
import type { ReceiptCase } from '../../../scripts/vectors/cases.ts';
import {
  type AnchorAuthority,
  type AnchorTransaction,
  type CallVerdict,
  createSigner,
  type IssuerRecord,
  parseJson,
  rootFingerprint,
  type SettlementTransaction,
  type Signer,
  sha256,
  signTrustBundle,
  TallyError,
  trustOf,
  utf8,
  type Verification,
  verify,
} from '../src/index.ts';

/** The files of spec/vectors whose cases are receipts to verify. */
export const receiptFiles = [
  'countersignatures.json',
  'envelope.json',
  'issue.json',
  'benchmark.json',
  'issuers.json',
  'legacy.json',
  'metering.json',
  'nano.json',
  'pq.json',
  'raw.json',
  'standard.json',
  'status.json',
];

const folder = new URL('../../../spec/vectors/', import.meta.url);
const read = (file: string): unknown => JSON.parse(readFileSync(new URL(file, folder), 'utf8'));

export function readVectors<Case = ReceiptCase>(file: string): Case[] {
  return read(file) as Case[];
}

/** Sets of issuers that a verifier may know, by the name that a case gives. */
export const stores = read('issuer-stores.json') as Record<ReceiptCase['trust'], IssuerRecord[]>;

/** A receipt to verify, with the name of its file. */
export type FiledCase = ReceiptCase & { readonly file: string };

export const receiptCases: readonly FiledCase[] = receiptFiles.flatMap((file) =>
  readVectors(file).map((vector) => ({ file, ...vector })),
);

/** The bytes of a case's document as it would be sent. */
export function bytesOf({
  raw_base64: raw,
  document,
}: Pick<ReceiptCase, 'raw_base64' | 'document'>): Buffer<ArrayBuffer> {
  return raw === undefined ? Buffer.from(JSON.stringify(document)) : Buffer.from(raw, 'base64');
}

/** The cases of anchors.json, which also state what is known of the receipt's anchor. */
export const anchorCases: readonly (AnchorCase & { readonly file: string })[] = readVectors<AnchorCase>(
  'anchors.json',
).map((vector) => ({ file: 'anchors.json', ...vector }));

/** The cases of settlements.json, which also state what is known of the receipt's payment. */
export const settlementCases: readonly (SettlementCase & { readonly file: string })[] =
  readVectors<SettlementCase>('settlements.json').map((vector) => ({ file: 'settlements.json', ...vector }));

const nowhere: AnchorAuthority = { log: null, chain: null };

/** The files of spec/vectors whose cases are inference calls, one a protocol. */
export const callFiles = ['chat', 'completions', 'messages', 'responses'].map((name) => `calls-${name}.json`);

export const callVectors: readonly (CallCase & { readonly file: string })[] = callFiles.flatMap((file) =>
  readVectors<CallCase>(file).map((vector) => ({ file, ...vector })),
);

/** The log and the chain of the bundle that a case is judged by. */
export function authorityOf({ authority = nowhere }: AnchorCase): AnchorAuthority {
  return authority;
}

/** The time and evidence of a case; the time in Unix milliseconds. */
export function circumstances({ now, evidence }: ReceiptCase) {
  return { now: Date.parse(now), evidence };
}

/** The anchor of a case, its transaction, and that of the payment. */
export function anchorIn({ anchor, transaction, settlement }: SettlementCase) {
  return {
    anchor,
    transaction: transaction ? transactionOf(transaction) : transaction,
    settlement: settlement ? paymentOf(settlement) : settlement,
  };
}

function paymentOf(facts: SettlementFacts): SettlementTransaction {
  return {
    chainId: facts.chain_id,
    txHash: facts.tx_hash,
    blockHeight: facts.block_height,
    transfers: facts.transfers.map((one) => ({ ...one, amount: BigInt(one.amount) })),
  };
}

export function transactionOf(facts: TransactionFacts): AnchorTransaction {
  return {
    chainId: facts.chain_id,
    txHash: facts.tx_hash,
    blockHeight: facts.block_height,
    blockTime: facts.block_time,
    from: facts.from,
    data: facts.data,
  };
}

/** A result, or the code of an error. */
export type Outcome<T> = T | { readonly code: string };

/** Returns the result, or the code of the TallyError that is thrown; any other error is thrown on. */
export async function outcome<T>(act: () => T | Promise<T>): Promise<Outcome<T>> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof TallyError) return { code: error.code };
    throw error;
  }
}

/** Core's result for a case. */
export function inCore(vector: SettlementCase): Promise<Outcome<Verification>> {
  return outcome(() => {
    const document = vector.raw_base64 === undefined ? vector.document : parseJson(bytesOf(vector));
    return verify(document, {
      ...circumstances(vector),
      ...anchorIn(vector),
      trust: trustOf(stores[vector.trust], [authorityOf(vector)]),
    });
  });
}

/** Asserts that the outcome is the one that the case expects. */
export function expectExpected(found: Outcome<Verification>, { expected }: ReceiptCase): void {
  if ('code' in found || 'code' in expected) {
    expect(found).toEqual(expected);
    return;
  }
  const { valid, integrity, issuer, family, checks } = found;
  const named = (ok: boolean | null) => checks.filter((check) => check.ok === ok).map(({ name }) => name);
  const { failed_checks, null_checks, evidence, ...verdict } = expected;
  if (evidence !== undefined) expect(found.evidence).toEqual(evidence);
  expect({ valid, integrity, trusted: issuer.trusted, family }).toEqual(verdict);
  expect(named(false).toSorted()).toEqual(failed_checks.toSorted());
  if (null_checks !== undefined) expect(named(null).toSorted()).toEqual(null_checks.toSorted());
}

/** Asserts that the verdict on a call is the one that the case expects. */
export function expectCall(verdict: CallVerdict, { expected }: CallCase): void {
  const { valid, integrity, issuer, protocol, checks } = verdict;
  const hashIn = (name: string) => checks.find((check) => check.name === name)?.hash ?? null;
  expect({
    valid,
    integrity,
    trusted: issuer.trusted,
    protocol,
    failed_checks: checks.filter(({ ok }) => ok === false).map(({ name }) => name),
    request_hash: hashIn('request'),
    response_hash: hashIn('response'),
  }).toEqual(expected);
}

/** Asserts that the outcome is the one that the case expects, and the same as core's in every word of every check. */
export async function expectAsInCore(found: Outcome<Verification>, vector: SettlementCase): Promise<void> {
  expectExpected(found, vector);
  expect(found).toEqual(await inCore(vector));
}

const rootOf = (name: string): Promise<Signer> => createSigner(sha256(utf8(`test root: ${name}`)));

/** The fingerprint of the root that signs a bundle of `bundleOf`. */
export async function fingerprintOf(root: string): Promise<string> {
  return rootFingerprint((await rootOf(root)).publicKey);
}

/** The text of a bundle that vouches for these issuers from 2025 until 2100. */
export async function bundleOf(
  issuers: readonly IssuerRecord[],
  version = 1,
  root = 'a',
  authority: AnchorAuthority = nowhere,
): Promise<string> {
  const period = { issuedAt: Date.UTC(2025, 0), expiresAt: Date.UTC(2100, 0) };
  return signTrustBundle({ version, ...period, ...authority, issuers }, await rootOf(root));
}
