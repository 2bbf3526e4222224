import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import {
  checkTrustBundle,
  formatTimestamp,
  isObject,
  parseJson,
  signTrustBundle,
  type TrustBundleFacts,
  TallyError,
  utf8,
} from '@tallystick/core';
import {
  approveIssuer,
  BUNDLE_DAYS,
  currentTrust,
  holdsRoot,
  publishTrust,
  readKeyring,
  readPassphrase,
  refreshTrust,
  signerFor,
  trustDraft,
} from '@tallystick/server';
import { call, DEFAULT_URL } from '../client.ts';
import { readJson } from '../input.ts';
import { paint, print, printJson, remark, UsageError } from '../output.ts';
import { serviceConfig, serviceKeyring, withStore } from '../service-files.ts';
import { savedTrust, saveTrust } from '../trust-store.ts';

/** `tally trust`: whom to trust, and for operators: how the service says so. */
export function trustCommands(program: Command): void {
  const trust = program
    .command('trust')
    .summary('fetch, show and publish trust bundles')
    .description('A trust bundle is the signed list of issuers and keys. Fetch it once; from then on verifying needs no network.');

  trust
    .command('fetch')
    .description('Fetches a service’s bundle, checks it against the pin, and saves it.')
    .argument('[url]', 'the service', process.env.TALLY_URL ?? DEFAULT_URL)
    .option('--root <fingerprint>', 'the root’s fingerprint as you know it (sha256:…)')
    .option('--out <file>', 'write the bundle to a file too, to carry it elsewhere')
    .option('--json', 'as JSON')
    .action(fetchTrust);

  trust
    .command('show')
    .description('Shows a bundle.')
    .argument('<file>', 'a bundle: a file, or - for standard input')
    .option('--json', 'as JSON')
    .action(async (file: string, { json }: { json?: boolean }) => {
      const document = await readJson(file);
      const bundle = isObject(document) && isObject(document.bundle) ? document.bundle : document;
      show(await checkTrustBundle(bundle, { now: Date.now() }), json === true);
    });

  trust
    .command('draft')
    .description('Writes the next bundle, unsigned, to standard output: for a root that is kept offline.')
    .action(async () => {
      const config = serviceConfig();
      const { keyring } = await serviceKeyring(config);
      printJson(await withStore(config, (store) => trustDraft(store, keyring)));
    });

  trust
    .command('sign')
    .description('Signs a draft with the root key and writes the bundle to standard output. Needs no network and no database.')
    .argument('<draft>', 'the draft: a file, or - for standard input')
    .requiredOption('--root-keyring <file>', 'the keyring with the root (tally keys init --root-out)')
    .option('--days <days>', 'for how long it may be relied on', String(BUNDLE_DAYS))
    .action(sign);

  trust
    .command('publish')
    .description('Publishes a signed bundle on the service of this machine.')
    .argument('<file>', 'the bundle: a file, or - for standard input')
    .action(publish);

  trust
    .command('approve')
    .description('Marks a registered issuer as verified: your act, which is what issuer_verified and trusted mean.')
    .argument('<did>', 'did:svc:<handle>')
    .action(approve);
}

async function fetchTrust(url: string, options: { root?: string; out?: string; json?: boolean }): Promise<void> {
  const { text } = await call(url, '/.well-known/trust.json');
  const origin = new URL(url).origin;
  const before = savedTrust(origin);
  const checked = await checkTrustBundle(parseJson(utf8(text)), { now: Date.now(), pin: before?.pin, root: options.root });
  const path = saveTrust({ url: origin, ...checked });
  if (options.out !== undefined) writeFileSync(options.out, `${text}\n`);
  show(checked, options.json === true);
  if (before === null && options.root === undefined) {
    remark('First fetch: the root is pinned from now on. Compare its fingerprint with one that you got another way.');
  }
  remark(`Saved to ${path}.`);
}

function show({ bundle, pin }: Awaited<ReturnType<typeof checkTrustBundle>>, json: boolean): void {
  if (json) return printJson({ root: pin.root, bundle });
  print(`${paint('bold', 'root')}     ${pin.root}`);
  print(`${paint('bold', 'version')}  ${bundle.version}, issued ${bundle.issued_at}, expires ${bundle.expires_at}`);
  for (const issuer of bundle.issuers) {
    print(`${paint('bold', 'issuer')}   ${issuer.did}  ${issuer.status}`);
    for (const key of issuer.keys) print(`           ${key.purpose.padEnd(10)} ${key.state.padEnd(8)} ${key.key_id}`);
  }
}

async function sign(draft: string, options: { rootKeyring: string; days: string }): Promise<void> {
  const days = Number(options.days);
  if (!Number.isInteger(days) || days < 1 || days > 3660) throw new UsageError('--days is a whole number from 1 to 3660.');
  const facts = (await readJson(draft)) as unknown as Pick<TrustBundleFacts, 'version' | 'issuers' | 'log' | 'chain'>;
  const keyring = await readKeyring(options.rootKeyring, readPassphrase(serviceConfig().keyring));
  const now = Math.floor(Date.now() / 1000) * 1000;
  const text = await signTrustBundle({ ...facts, issuedAt: now, expiresAt: now + days * 86_400_000 }, signerFor(keyring, 'root'));
  await checkTrustBundle(parseJson(utf8(text)), { now });
  print(text);
}

async function publish(file: string): Promise<void> {
  const document = await readJson(file);
  const config = serviceConfig();
  await withStore(config, async (store) => {
    const before = await currentTrust(store);
    const root = before?.bundle.root.public_key;
    const { bundle } = await checkTrustBundle(document, { now: Date.now() });
    if (root !== undefined && root !== bundle.root.public_key) {
      throw new TallyError('trust_root_mismatch', 'The bundle is signed by another root than the one published now.');
    }
    await publishTrust(store, bundle);
    remark(`Published version ${bundle.version}, which expires at ${bundle.expires_at}.`);
  });
}

async function approve(did: string): Promise<void> {
  const config = serviceConfig();
  const { keyring } = await serviceKeyring(config);
  await withStore(config, async (store) => {
    await approveIssuer(store, did);
    if (holdsRoot(keyring)) await refreshTrust(store, keyring, Date.now());
    else remark('The root is not here: publish a new trust bundle with tally trust draft, sign and publish.');
  });
  print(`${did} is verified as of ${formatTimestamp(Date.now())}.`);
}

