import { nameOf, print, printJson, readJson, remark } from '@tallystick/cli/toolkit';
import {
  checkTrustBundle,
  formatTimestamp,
  isObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  signTrustBundle,
  TallyError,
  type TrustBundleFacts,
  utf8,
} from '@tallystick/core';
import {
  approveIssuer,
  BUNDLE_DAYS,
  currentTrust,
  publishTrust,
  readConfig,
  signerFor,
  trustDraft,
} from '../index.ts';
import { openKeyring, publishNews, serviceConfig, withStore } from './files.ts';

const DAY_MS = 86_400_000;

/** Prints the next bundle, unsigned. */
export async function draft(): Promise<void> {
  const config = serviceConfig();
  const { keyring } = await openKeyring(config.keyring.path, config);
  printJson(await withStore(config, (store) => trustDraft(store, keyring)));
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

/** Publishes a signed bundle. @throws the trust_* codes */
export async function publish(file: string, json: boolean): Promise<void> {
  const document = await readJson(file);
  const { bundle } = await checkTrustBundle(document, { now: Date.now() });
  await withStore(serviceConfig(), async (store) => {
    const before = await currentTrust(store);
    if (before !== null && before.bundle.root.public_key !== bundle.root.public_key) {
      throw new TallyError(
        'trust_root_mismatch',
        'The bundle is signed by another root than the one published now.',
      );
    }
    await publishTrust(store, bundle);
  });
  const { version, expires_at } = bundle;
  if (json) printJson({ version, expires_at });
  else remark(`Published version ${version}, which expires at ${expires_at}.`);
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
