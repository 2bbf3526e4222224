import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateSecretKey, type LogKey } from '@tallystick/core';
import { onTestFinished } from 'vitest';
import { nodeSigner } from '../../kit/src/crypto/node-ed25519.ts';
import type { LogSigner } from '../../log/src/log-key.ts';
import type { LogStore } from '../../log/src/log-store.ts';
import { openSqliteStore } from '../../store/src/sqlite.ts';

/** The hash that is accepted `index`-th in tests: 32 bytes. */
export function hashOf(index: number): Uint8Array {
  return new Uint8Array(createHash('sha256').update(`hash ${index}`).digest());
}

export function newLog(origin = 'log.example'): LogSigner & LogKey {
  const signer = nodeSigner(generateSecretKey());
  return { origin, publicKey: signer.publicKey, signer: () => signer };
}

/** A store in a file of its own, gone with the test. */
export async function newLogStore(): Promise<{ store: LogStore; file: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'tally-log-'));
  const file = join(folder, 'log.db');
  const store = await openSqliteStore(file);
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  return { store: store.log, file };
}

/** Accepts the hashes `[from, to)`. */
export async function acceptHashes(store: LogStore, from: number, to: number, batchAt = 10): Promise<void> {
  for (let start = from; start < to; start += 10_000) {
    const end = Math.min(to, start + 10_000);
    const hashes = Array.from({ length: end - start }, (_, offset) => hashOf(start + offset));
    await store.accept({ hashes, batchAt, quota: null });
  }
}

/** Takes the lease for a holder that nobody competes with. */
export async function lead(store: LogStore, holder = 'a'): Promise<number> {
  const lease = await store.acquireLease(holder, 60);
  if (lease === null) throw new Error('Another one leads.');
  return lease.epoch;
}

/** The store with some methods replaced. */
export function overriding(store: LogStore, methods: Partial<LogStore>): LogStore {
  return new Proxy(store, {
    get(target, name) {
      const replaced: unknown = Reflect.get(methods, name);
      const member: unknown = replaced ?? Reflect.get(target, name, target);
      return replaced === undefined && typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
