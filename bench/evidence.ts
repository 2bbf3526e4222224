import { randomBytes } from 'node:crypto';
import { createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { anchoredHash, emitReceipt, fromHex, receiptId, sha256, utf8, verifyBundle } from '@tallystick/core';
import { createApp } from '../packages/server/src/app.ts';
import { readConfig } from '../packages/server/src/config.ts';
import { withApiKeySecret } from '../packages/server/src/issuers/keyring.ts';
import { listen } from '../packages/server/src/listen.ts';
import { openServices, type Services } from '../packages/server/src/services.ts';
import { createTenant, createTenantKey } from '../packages/server/src/tenants/manage.ts';

/**
 * Streams the evidence bundle of so many receipts (100,000) to disk and verifies it, and says how long that took and how
 * much memory the process held: `node bench/evidence.ts [receipts]`. Service and client are one process, so that its
 * memory is more than that of either.
 */
const COUNT = Number(process.argv[2] ?? 100_000);
const BATCH = 500;
const MB = 1_048_576;

const folder = mkdtempSync(join(tmpdir(), 'tally-evidence-'));
const archive = join(folder, 'bundle.zip');
try {
  const config = readConfig({ TALLY_DATA_DIR: folder, TALLY_LOG_LEVEL: 'silent', TALLY_DEVNET: 'off' });
  const services = await openServices(config);
  const { id, key } = await newTenant(services);
  await timed('receipts made and stored', () => fill(services, id));
  const open = async () => ({ fetch: createApp(services).fetch, close: async () => {} });
  const { address, close } = await listen({ host: '127.0.0.1', port: 0, open });
  await timed('bundle streamed to disk', () =>
    download(`http://127.0.0.1:${address.port}/tenants/${id}/evidence`, key),
  );
  await close();
  await services.close();
  const verdict = await timed('bundle verified', verifyArchive);
  const { receipts, files } = verdict;
  process.stdout.write(
    `${receipts} receipts, ${files} files, ${Math.round(statSync(archive).size / MB)} MiB\n`,
  );
} finally {
  rmSync(folder, { recursive: true });
}

async function newTenant({ store, issuer }: Services): Promise<{ id: string; key: string }> {
  const now = Date.now();
  const tenant = await createTenant(store, { label: null, now });
  const { apiKeySecret } = withApiKeySecret(issuer.keyring);
  const { key } = await createTenantKey(store, apiKeySecret, { tenant, label: null, now });
  return { id: tenant, key };
}

/** Receipts of the last days, in the log and in the store. */
async function fill({ store, log, issuer }: Services, tenant: string): Promise<void> {
  const start = Date.now() - 1000;
  for (let done = 0; done < COUNT; done += BATCH) {
    const rows = await Promise.all(
      Array.from({ length: Math.min(BATCH, COUNT - done) }, async () => {
        const issuedAt = Math.floor(start / 1000);
        const id = receiptId('standard', issuedAt, randomBytes(6).toString('hex'));
        const body = await emitReceipt(
          'standard',
          {
            agentDid: 'did:svc:anonymous',
            agentProved: false,
            subject: { sha256: sha256(utf8(id)), contentType: 'text/plain', ok: true },
            verifyUri: 'https://receipts.example/verify',
            purpose: 'bench',
            settlement: { rail: 'x402', chain_id: 8453, asset: 'USDC', status: 'none', tx: null },
            seal: null,
            reputationTier: 'unregistered',
            sealedEvidenceRef: null,
            auditorVerifier: false,
          },
          { receiptId: id, issuedAt: start, issuerDid: issuer.did, issuerVerified: true },
          issuer.signer('receipt'),
        );
        const expiresAt = issuedAt + 365 * 86_400;
        return { id, profile: 'standard' as const, tenant, body, issuedAt, expiresAt };
      }),
    );
    await log.accept(
      rows.map(({ body }) => fromHex(anchoredHash(JSON.parse(body)), 32)),
      null,
    );
    await Promise.all(rows.map((row) => store.putReceipt(row)));
  }
}

async function download(url: string, key: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const asked = request(url, { headers: { authorization: `Bearer ${key}` } }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`Answered ${response.statusCode}.`));
      pipeline(response, createWriteStream(archive)).then(resolve, reject);
    });
    asked.on('error', reject).end();
  });
}

async function verifyArchive() {
  const file = await open(archive);
  try {
    const read = async (from: number, to: number): Promise<Uint8Array> => {
      const bytes = new Uint8Array(to - from);
      await file.read(bytes, 0, bytes.length, from);
      return bytes;
    };
    return await verifyBundle({ size: statSync(archive).size, read }, { now: Date.now() });
  } finally {
    await file.close();
  }
}

/** Says how long some work took, and the most memory that the process held during it. */
async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const before = process.memoryUsage().rss;
  let most = before;
  const looking = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 20);
  const started = performance.now();
  try {
    return await work();
  } finally {
    clearInterval(looking);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    process.stdout.write(
      `${what}: ${seconds} s, memory ${Math.round(before / MB)} MiB before, ${Math.round(most / MB)} MiB at most\n`,
    );
  }
}
