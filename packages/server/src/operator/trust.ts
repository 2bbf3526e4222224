import { readFileSync } from 'node:fs';
import { nameOf, print, printJson, readJson, remark, UsageError } from '@tallystick/cli/toolkit';
import {
  checkTrustBundle,
  formatTimestamp,
  fromBase64url,
  isObject,
  type JsonObject,
  type JsonValue,
  openCheckpoint,
  parseJson,
  signTrustBundle,
  TallyError,
  type TrustBundle,
  type TrustBundleFacts,
  utf8,
} from '@tallystick/core';
import {
  approveIssuer,
  BUNDLE_DAYS,
  currentTrust,
  hasAnchors,
  inheritAnchors,
  publishTrust,
  signerFor,
  trustDraft,
} from '@tallystick/issuers';
import { readConfig } from '../config/config.ts';
import { openKeyring, publishNews, serviceConfig, withStore } from './files.ts';

const DAY_MS = 86_400_000;

/** Prints the next bundle, unsigned. */
export async function draft(): Promise<void> {
  const config = serviceConfig();
  const { keyring } = await openKeyring(config.keyring.path, config);
  printJson(await withStore(config, (store) => trustDraft(store, keyring, Date.now())));
}

/** Prints the bundle of a draft, signed by the root. @throws trust_invalid for a malformed draft */
export async function sign(file: string, options: { rootKeyring: string; days?: number }): Promise<void> {
  const facts = draftOf(await readJson(file), nameOf(file));
  // The machine with the root key runs no service: only the passphrase is read from its environment.
  const { keyring } = await openKeyring(
    options.rootKeyring,
    readConfig({ ...process.env, NODE_ENV: 'development' }),
  );
  const now = Math.floor(Date.now() / 1000) * 1000;
  const expiresAt = now + (options.days ?? BUNDLE_DAYS) * DAY_MS;
  const text = await signTrustBundle({ ...facts, issuedAt: now, expiresAt }, signerFor(keyring, 'root'));
  await checkTrustBundle(parseJson(utf8(text)), { now });
  print(text);
}

type Draft = Omit<TrustBundleFacts, 'issuedAt' | 'expiresAt'>;

/** The facts of a draft; the finished bundle is checked in full. */
function draftOf(document: JsonValue, name: string): Draft {
  if (!isObject(document) || typeof document.version !== 'number' || !Array.isArray(document.issuers)) {
    throw new TallyError('trust_invalid', `${name} is not a draft. Make one with: tally trust draft`);
  }
  const draft = document as JsonObject & Draft;
  return { ...draft, log: draft.log ?? null, chain: draft.chain ?? null };
}

/**
 * Publishes signed bundles, the oldest first. In the database of a service that has not started yet, the newest of them says which
 * log and account were used before.
 * @param lastCheckpoint file with the last checkpoint of the log before
 * @throws UsageError, the trust_* codes, those of `openCheckpoint`
 */
export async function publish(
  files: readonly string[],
  { lastCheckpoint, json }: { readonly lastCheckpoint?: string; readonly json?: boolean },
): Promise<void> {
  const bundles: TrustBundle[] = [];
  for (const [index, file] of files.entries()) {
    // Only the newest one has to be valid still.
    const now = index === files.length - 1 ? Date.now() : 0;
    bundles.push((await checkTrustBundle(await readJson(file), { now })).bundle);
  }
  const newest = bundles.at(-1);
  if (newest === undefined) throw new UsageError('Say which bundle.');
  const lastSize = lastCheckpoint === undefined ? null : await sizeOf(lastCheckpoint, newest);
  await withStore(serviceConfig(), async (store) => {
    const isNew = !(await hasAnchors(store));
    if (!isNew && lastSize !== null) {
      throw new UsageError(
        '--last-checkpoint is for a database on which the service has not started yet: this one has a log of its own.',
      );
    }
    for (const bundle of bundles) {
      const before = await currentTrust(store);
      if (before !== null && before.bundle.root.public_key !== bundle.root.public_key) {
        throw new TallyError(
          'trust_root_mismatch',
          'The bundle is signed by another root than the one published now.',
        );
      }
      await publishTrust(store, bundle);
    }
    if (isNew) await inheritAnchors(store, newest, lastSize);
  });
  const { version, expires_at } = newest;
  if (json) printJson({ version, expires_at });
  else remark(`Published version ${version}, which expires at ${expires_at}.`);
}

/** Leaves of the tree in the file of a checkpoint, once the bundle's log is known to have signed it. */
async function sizeOf(file: string, { log }: TrustBundle): Promise<number> {
  if (log === null) throw new UsageError('The bundle names no log, so there is no last checkpoint.');
  const key = { origin: log.origin, publicKey: fromBase64url(log.public_key, 32) };
  return (await openCheckpoint(readFileSync(file, 'utf8'), key)).size;
}

/** Marks an issuer as verified, and publishes the changed trust bundle. @throws issuer_not_found, issuer_conflict */
export async function approve(did: string, json: boolean): Promise<void> {
  const config = serviceConfig();
  const { keyring } = await openKeyring(config.keyring.path, config);
  await withStore(config, (store) => approveIssuer(store, did));
  const published = await publishNews(config, keyring);
  const at = formatTimestamp(Date.now());
  if (json) printJson({ did, status: 'verified', at, bundle_published: published });
  else print(`${did} is verified as of ${at}.`);
}
