import { didSvc, isObject, signStatement, TallyError } from '@tallystick/core';
import type { Command } from 'commander';
import { generateKeyFile, readKeyFile } from '../key-file.ts';
import { print, printJson, remark, UsageError } from '../output.ts';
import { serviceAt, urlOption } from '../service.ts';

/** `tally keys`: manages the user's own keys. The service's keyring belongs to the operator. */
export function keyCommands(program: Command): void {
  const keys = program
    .command('keys')
    .summary('the service’s keys, and your own')
    .description(
      'generate and register work with a key of your own; init, list, rotate and revoke with the keyring of the service on this machine.',
    );
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
  const service = serviceAt(url);
  const { json: own } = await service.get('/.well-known/did.json');
  const audience = isObject(own) && Array.isArray(own.alsoKnownAs) ? own.alsoKnownAs[0] : undefined;
  if (typeof audience !== 'string')
    throw new TallyError('unavailable', `The service at ${url} does not state its DID.`);
  const statement = await signStatement(
    { audience, did, sequence: 1, action: 'register', keyId: signer.keyId, at: Date.now() },
    signer,
  );
  const { json: record } = await service.post('/v1/issuers', statement);
  if (json) printJson(record);
  else print(`${did}  ${signer.keyId}`);
  remark(
    `Registered. Its record: ${url}/.well-known/issuers/${did}.json. The service’s operator can mark it as verified.`,
  );
}
