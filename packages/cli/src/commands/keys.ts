import {
  didSvc,
  isObject,
  KEY_PURPOSES,
  type KeyPurpose,
  REVOCATION_REASONS,
  type RevocationReason,
  signStatement,
  TallyError,
} from '@tallystick/core';
import { type Command, Option } from 'commander';
import { call, urlOption } from '../client.ts';
import { generateKeyFile, readKeyFile } from '../key-file.ts';
import { print, printJson, remark, UsageError } from '../output.ts';

/** `tally keys`: keys of one's own, and the service's keyring. */
export function keyCommands(program: Command): void {
  const keys = program
    .command('keys')
    .summary('the service’s keys, and your own')
    .description(
      'generate and register work with a key of your own; init, list, rotate and revoke with the keyring of the service on this machine.',
    );
  ownKeys(keys);
  serviceKeys(keys);
}

function ownKeys(keys: Command): void {
  keys
    .command('generate')
    .summary('make a key of your own')
    .description('Makes a key of your own, to counter-sign or to register as an issuer. Prints its did:key.')
    .requiredOption('--out <file>', 'where to write it (mode 0600); an existing file is kept')
    .option('--json', 'as JSON')
    .action(async ({ out, json }: { out: string; json?: boolean }) => {
      const { keyId } = await generateKeyFile(out);
      if (json) printJson({ key_id: keyId, file: out });
      else print(keyId);
    });

  keys
    .command('register')
    .summary('register a handle with your key')
    .description(
      'Registers a handle at a service with your key: the service learns that did:svc:<handle> holds it.',
    )
    .requiredOption('--handle <handle>', 'the handle: a-z, 0-9 and -', handle)
    .requiredOption('--key <file>', 'your key file')
    .addOption(urlOption())
    .option('--json', 'the record as JSON')
    .action(register);
}

function serviceKeys(keys: Command): void {
  keys
    .command('init')
    .summary('make the service’s keyring')
    .description(
      'Makes the service’s keyring. The root key goes into a file of its own with --root-out, to be kept offline.',
    )
    .option('--root-out <file>', 'a keyring with the root alone')
    .option('--json', 'as JSON')
    .action(async (options: { rootOut?: string; json?: boolean }) =>
      (await import('../service/keyring.ts')).init(options),
    );

  keys
    .command('list')
    .summary('list the service’s keys')
    .description('Lists the service’s public keys with their purposes, states and windows.')
    .option('--json', 'as JSON')
    .action(async (options: { json?: boolean }) => (await import('../service/keyring.ts')).list(options));

  // Neither is replaced: the root is pinned, and the log's key names the log.
  const purposes = KEY_PURPOSES.filter((purpose) => purpose !== 'root' && purpose !== 'log');
  keys
    .command('rotate')
    .summary('replace a key of the service')
    .description(
      'Replaces a key. The outgoing one signs the change and stays valid for 60 s; a running server starts to use the new one within 2 s.',
    )
    .addOption(new Option('--purpose <purpose>', 'which key').choices(purposes).default('receipt'))
    .option('--json', 'as JSON')
    .action(async (options: { purpose: KeyPurpose; json?: boolean }) =>
      (await import('../service/keyring.ts')).rotate(options),
    );

  keys
    .command('revoke')
    .summary('revoke a key of the service')
    .description(
      'Revokes a key, and replaces it if it is active. After `compromised`, only receipts anchored before the revocation stay trusted.',
    )
    .argument('<key-id>', 'the did:key (tally keys list)')
    .addOption(new Option('--reason <reason>', 'why').choices([...REVOCATION_REASONS]).makeOptionMandatory())
    .option('--at <time>', 'when the revocation took effect, in UTC (default: now)')
    .option('--json', 'as JSON')
    .action(async (keyId: string, options: { reason: RevocationReason; at?: string; json?: boolean }) =>
      (await import('../service/keyring.ts')).revoke(keyId, options),
    );
}

/** The did:svc of a handle. @throws UsageError */
function handle(text: string): string {
  try {
    return didSvc(text);
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    throw new UsageError(`--handle ${text}: ${error.message}`, { cause: error });
  }
}

async function register({
  handle: did,
  key,
  url,
  json,
}: {
  handle: string;
  key: string;
  url: string;
  json?: boolean;
}): Promise<void> {
  const signer = await readKeyFile(key);
  const { body: own } = await call(url, '/.well-known/did.json');
  const audience = isObject(own) && Array.isArray(own.alsoKnownAs) ? own.alsoKnownAs[0] : undefined;
  if (typeof audience !== 'string')
    throw new TallyError('unavailable', `The service at ${url} does not state its DID.`);
  const statement = await signStatement(
    { audience, did, sequence: 1, action: 'register', keyId: signer.keyId, at: Date.now() },
    signer,
  );
  const { body } = await call(url, '/v1/issuers', { body: JSON.stringify(statement) });
  if (json) printJson(body);
  else print(`${did}  ${signer.keyId}`);
  remark(
    `Registered. Its record: ${url}/.well-known/issuers/${did}.json. The service’s operator can mark it as verified.`,
  );
}
