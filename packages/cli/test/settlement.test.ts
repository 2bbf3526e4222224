import { writeFileSync } from 'node:fs';
import {
  createSigner,
  type EnvelopeFacts,
  emitReceipt,
  mintEnvelope,
  sha256,
  signTrustBundle,
  toBase64url,
  utf8,
} from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { devAccount } from '../../chain/src/token/dev-accounts.ts';
import { DEV_USDC, deployDevToken } from '../../chain/src/token/dev-token.ts';
import { startAnvil, type TestAnvil } from '../../server/test/anvil.ts';
import { sendUsdc } from '../../server/test/usdc.ts';
import { workspace } from './tally.ts';

const { at, tally, remove } = workspace();
const [issuer, root] = await Promise.all([3, 4].map((seed) => createSigner(new Uint8Array(32).fill(seed))));
const did = 'did:svc:shop';
const treasury = devAccount('treasury').address;
const payer = devAccount('alice').address;
const now = Date.now();
const issuance = { issuedAt: now, issuerDid: did, issuerVerified: true };
let anvil: TestAnvil;
let tx: string;

beforeAll(async () => {
  anvil = await startAnvil();
  await deployDevToken(anvil.rpcUrl);
  tx = await sendUsdc(anvil.rpcUrl, 'alice', { to: treasury, amount: 800n });
  if (issuer === undefined || root === undefined) throw new Error('There are two keys.');
  const key = {
    key_id: issuer.keyId,
    public_key: toBase64url(issuer.publicKey),
    purpose: 'receipt',
    state: 'active',
    valid_from: '2026-01-01T00:00:00Z',
    valid_until: null,
    revoked: null,
  } as const;
  const facts = {
    version: 1,
    issuedAt: now,
    expiresAt: now + 86_400_000,
    issuers: [{ did, status: 'verified', keys: [key] }],
    log: null,
    chain: null,
    payees: [{ chain_id: 31_337, asset: 'USDC', token: DEV_USDC, decimals: 6, address: treasury }],
  } as const;
  writeFileSync(at('bundle.json'), await signTrustBundle(facts, root));
  writeFileSync(at('paid.json'), await standard('0.0008'));
  writeFileSync(at('more.json'), await standard('0.0012'));
  writeFileSync(at('elsewhere.json'), await standard('0.0008', 8453));
  writeFileSync(at('call.json'), await envelope(payer));
  writeFileSync(at('another.json'), await envelope(devAccount('bob').address));
  writeFileSync(at('free.json'), await envelope(null));
});
afterAll(async () => {
  await anvil.stop();
  remove();
});

function standard(amount: string, chain_id = 31_337): Promise<string> {
  const facts = {
    agentDid: 'did:svc:anonymous',
    agentProved: false,
    subject: { sha256: sha256(utf8('x')), contentType: 'text/plain', ok: true },
    verifyUri: 'https://receipts.example/verify',
    purpose: null,
    settlement: { rail: 'x402', chain_id, asset: 'USDC', status: 'confirmed', tx, amount },
    seal: null,
    reputationTier: 'unregistered',
    sealedEvidenceRef: null,
    auditorVerifier: false,
  } as const;
  if (issuer === undefined) throw new Error('There is a key.');
  return emitReceipt(
    'standard',
    facts,
    { receiptId: 'r_standard_1780000000_0123456789ab', ...issuance },
    issuer,
  );
}

function envelope(paidBy: string | null): Promise<string> {
  const nothing = { chain: null, asset: null, tx: null };
  const paid = { chain: 'eip155:31337', asset: 'USDC', tx, amount: '0.0008', payer: paidBy ?? '' };
  const facts: EnvelopeFacts = {
    request: { hash: null, origin: null, purpose: null, policy_hash: null },
    operator: { entity: null, region: null, training_region: null },
    hardware: { class: null, attestation: null },
    response: { hash: null, sealed: null },
    settlement: paidBy === null ? nothing : paid,
  };
  if (issuer === undefined) throw new Error('There is a key.');
  return mintEnvelope(facts, { receiptId: 'r_env_1780000000_0123456789ab', ...issuance }, issuer);
}

const verify = (file: string, ...more: string[]) =>
  tally(['verify', at(file), '--trust', at('bundle.json'), ...more, '--json']);

async function verdictOf(file: string, ...more: string[]) {
  const { code, stdout } = await verify(file, ...more);
  const { checks, settlement } = JSON.parse(stdout);
  const named = (checks as { name: string; ok: boolean }[]).find(
    ({ name }) => name === 'settlement_transaction',
  );
  return { code, ok: named?.ok, settlement };
}

describe('verify asks the chain whether the transaction has paid', () => {
  const asked = { chain_id: 31_337, block_height: expect.any(Number), block_final: expect.any(Boolean) };

  test.each([
    ['standard', 'paid.json'],
    ['envelope', 'call.json'],
  ])('%s: it has', async (_, file) => {
    expect(await verdictOf(file, '--rpc', anvil.rpcUrl)).toEqual({ code: 0, ok: true, settlement: asked });
  });

  test.each([
    ['another amount', 'more.json'],
    ['from another account', 'another.json'],
  ])('it has paid %s', async (_, file) => {
    expect(await verdictOf(file, '--rpc', anvil.rpcUrl)).toEqual({ code: 1, ok: false, settlement: asked });
  });

  test('nobody knows where it was not asked', async () => {
    expect(await verdictOf('paid.json')).toEqual({ code: 0, ok: null, settlement: undefined });
  });

  test('the chain does not have it', async () => {
    const empty = await startAnvil();
    const answered = await verdictOf('paid.json', '--rpc', empty.rpcUrl);
    await empty.stop();
    expect(answered).toEqual({
      code: 1,
      ok: false,
      settlement: { chain_id: 31_337, block_height: null, block_final: null },
    });
  });

  test.each([
    ['a node of another chain', 'elsewhere.json', 'chain_mismatch'],
    ['a receipt that names none', 'free.json', 'usage'],
  ])('it can’t be asked with %s', async (_, file, error) => {
    const { code, stdout } = await verify(file, '--rpc', anvil.rpcUrl);
    expect([code, JSON.parse(stdout).error.code]).toEqual([2, error]);
  });
});
