import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import {
  didSvc,
  formatTimestamp,
  KEY_PURPOSES,
  parseTimestamp,
  REVOCATION_REASONS,
  rootFingerprint,
  signStatement,
} from '@tallystick/core';
import {
  createKeyring,
  holdsRoot,
  type Keyring,
  readPassphrase,
  refreshTrust,
  revokeKey,
  rotateKey,
  signerFor,
  writeKeyring,
} from '@tallystick/server';
import { call, DEFAULT_URL } from '../client.ts';
import { generateKeyFile, readKeyFile } from '../key-file.ts';
import { paint, print, printJson, remark, UsageError } from '../output.ts';
import { serviceConfig, serviceKeyring, withStore } from '../service-files.ts';

/** `tally keys`: the service's keyring, and keys of one's own. */
export function keyCommands(program: Command): void {
  const keys = program.command('keys').summary('the service’s keys, and your own').description('Makes, lists, rotates and revokes keys.');

  keys
    .command('generate')
    .description('Makes a key of your own, to counter-sign or to register as an issuer.')
    .requiredOption('--out <file>', 'where to write it (mode 0600); an existing file is kept')
    .option('--json', 'as JSON')
    .action(async ({ out, json }: { out: string; json?: boolean }) => {
      const { keyId } = await generateKeyFile(out);
      if (json) printJson({ key_id: keyId, file: out });
      else print(keyId);
    });

  keys
    .command('register')
    .description('Registers a handle at a service with your key: the service learns that did:svc:<handle> holds it.')
    .requiredOption('--handle <handle>', 'the handle: a-z, 0-9 and -')
    .requiredOption('--key <file>', 'your key file')
    .option('--url <url>', 'the service', process.env.TALLY_URL ?? DEFAULT_URL)
    .option('--json', 'the record as JSON')
    .action(register);

  keys
    .command('init')
    .description('Makes the service’s keyring. The root key goes into a file of its own with --root-out, to be kept offline.')
    .option('--root-out <file>', 'a keyring with the root, apart from the rest')
    .action(init);

  keys.command('list').description('Lists the service’s keys.').option('--json', 'as JSON').action(list);

  keys
    .command('rotate')
    .description('Replaces a key. The outgoing one signs the change and stays valid for 60 s; a running server takes the new one up within 2 s.')
    .option('--purpose <purpose>', KEY_PURPOSES.filter((purpose) => purpose !== 'root').join(', '), 'receipt')
    .action(rotate);

  keys
    .command('revoke')
    .description('Revokes a key. After `compromised`, only receipts anchored before stay trusted.')
    .argument('<key-id>', 'the did:key')
    .requiredOption('--reason <reason>', REVOCATION_REASONS.join(', '))
    .option('--at <time>', 'since when, in UTC; now when absent')
    .action(revoke);
}

async function register(options: { handle: string; key: string; url: string; json?: boolean }): Promise<void> {
  const signer = await readKeyFile(options.key);
  const own = JSON.parse((await call(options.url, '/.well-known/did.json')).text) as { alsoKnownAs?: string[] };
  const audience = own.alsoKnownAs?.[0];
  if (audience === undefined) throw new UsageError(`The service at ${options.url} does not say which DID it has.`);
  const did = didSvc(options.handle);
  const statement = await signStatement(
    { audience, did, sequence: 1, action: 'register', keyId: signer.keyId, at: Date.now() },
    signer,
  );
  const { text } = await call(options.url, '/v1/issuers', { body: JSON.stringify(statement) });
  if (options.json) print(text);
  else remark(`Registered ${did} with ${signer.keyId}. Its record: ${new URL(`/.well-known/issuers/${did}.json`, options.url)}`);
}

async function init({ rootOut }: { rootOut?: string }): Promise<void> {
  const config = serviceConfig();
  for (const path of [config.keyring.path, rootOut]) {
    if (path !== undefined && existsSync(path)) throw new UsageError(`${path} exists already; it is left as it is.`);
  }
  const keyring = await createKeyring(didSvc(config.handle), Date.now());
  const passphrase = readPassphrase(config.keyring);
  if (rootOut === undefined) writeKeyring(config.keyring.path, keyring, passphrase);
  else {
    const isRoot = ({ purpose }: { purpose: string }): boolean => purpose === 'root';
    writeKeyring(rootOut, { ...keyring, keys: keyring.keys.filter(isRoot) }, passphrase);
    writeKeyring(config.keyring.path, { ...keyring, keys: keyring.keys.filter((key) => !isRoot(key)) }, passphrase);
  }
  print(`${keyring.document.did}  root ${rootFingerprint(signerFor(keyring, 'root').publicKey)}`);
  if (passphrase === null) remark('The keys are not encrypted: set TALLY_KEYRING_PASSPHRASE_FILE to a file with a passphrase.');
}

async function list({ json }: { json?: boolean }): Promise<void> {
  const { keyring } = await serviceKeyring(serviceConfig());
  const { did, keys } = keyring.document;
  const root = holdsRoot(keyring) ? rootFingerprint(signerFor(keyring, 'root').publicKey) : null;
  if (json) return printJson({ did, root, keys });
  print(`${paint('bold', did)}  root ${root ?? 'kept elsewhere'}`);
  for (const key of keys) {
    const until = key.revoked === null ? (key.valid_until ?? 'open') : `revoked ${key.revoked.at} (${key.revoked.reason})`;
    print(`  ${key.purpose.padEnd(10)} ${key.state.padEnd(8)} ${key.key_id}  ${key.valid_from} … ${until}`);
  }
}

async function rotate({ purpose: name }: { purpose: string }): Promise<void> {
  const purpose = KEY_PURPOSES.find((known) => known === name);
  if (purpose === undefined) throw new UsageError(`--purpose is one of ${KEY_PURPOSES.join(', ')}.`);
  const after = await change((keyring) => rotateKey(keyring, purpose, Date.now()));
  print(signerFor(after, purpose).keyId);
}

async function revoke(keyId: string, options: { reason: string; at?: string }): Promise<void> {
  const reason = REVOCATION_REASONS.find((known) => known === options.reason);
  if (reason === undefined) throw new UsageError(`--reason is one of ${REVOCATION_REASONS.join(', ')}.`);
  const instant = options.at === undefined ? null : parseTimestamp(options.at);
  if (options.at !== undefined && instant === null) throw new UsageError('--at takes a UTC time such as 2027-01-31T12:00:00Z.');
  const now = Date.now();
  const at = instant === null ? now : instant.seconds * 1000;
  await change((keyring) => revokeKey(keyring, keyId, reason, at, now));
  print(`${keyId} is revoked from ${formatTimestamp(Math.floor(at / 1000) * 1000)} on (${reason}).`);
}

/** Changes the keyring on disk and, where the root is at hand, publishes the news in a new trust bundle. */
async function change(by: (keyring: Keyring) => Promise<Keyring>): Promise<Keyring> {
  const config = serviceConfig();
  const { keyring, passphrase } = await serviceKeyring(config);
  const after = await by(keyring);
  writeKeyring(config.keyring.path, after, passphrase);
  if (holdsRoot(after)) await withStore(config, (store) => refreshTrust(store, after, Date.now()));
  else remark('The root is not here: publish a new trust bundle with tally trust draft, sign and publish.');
  return after;
}
