import { type Command, InvalidArgumentError, Option, operatorCommand } from '@tallystick/cli/toolkit';
import { KEY_PURPOSES, type KeyPurpose, REVOCATION_REASONS, type RevocationReason } from '@tallystick/core';

/** `tally keys init | list | rotate | pq | revoke | passphrase`: the keyring of the service on this machine. */
export function keyringCommands(keys: Command): void {
  operatorCommand(keys, 'init')
    .description(
      'Makes the service’s keyring. The root key goes into a file of its own with --root-out, to be kept offline.',
    )
    .option('--root-out <file>', 'a keyring with the root alone')
    .option(
      '--signer <purpose=name...>',
      'a key that is elsewhere: the ARN of an AWS KMS key, or a PKCS#11 URI (docs/operating/keys.md)',
    )
    .option('--json', 'as JSON')
    .action(async (options: { rootOut?: string; signer?: string[]; json?: boolean }) =>
      (await import('../keyring.ts')).init(options),
    );

  operatorCommand(keys, 'list')
    .description('Lists the service’s public keys with their purposes, states and windows.')
    .option('--json', 'as JSON')
    .action(async (options: { json?: boolean }) => (await import('../keyring.ts')).list(options));

  // These two are never replaced: clients pin the root, and the log's key names the log.
  const purposes = KEY_PURPOSES.filter((purpose) => purpose !== 'root' && purpose !== 'log');
  operatorCommand(keys, 'rotate')
    .description(
      'Replaces a key. The outgoing one signs the change and stays valid for 60 s; a running server starts to use the new one within 2 s.',
    )
    .addOption(new Option('--purpose <purpose>', 'which key').choices(purposes).default('receipt'))
    .option('--signer <name>', 'take a key that is elsewhere: the ARN of an AWS KMS key, or a PKCS#11 URI')
    .option(
      '--grace <seconds>',
      'how long the outgoing key stays valid (default: 60): until every machine has the new keyring',
      graceSeconds,
    )
    .option('--json', 'as JSON')
    .action(async (options: { purpose: KeyPurpose; signer?: string; grace?: number; json?: boolean }) =>
      (await import('../keyring.ts')).rotate(options),
    );

  operatorCommand(keys, 'pq')
    .description(
      'Makes a key for second signatures of pq receipts by ML-DSA-65, which are experimental and made where TALLY_PQ_SIGNATURES=on. One that was active stays valid for 60 s.',
    )
    .option('--json', 'as JSON')
    .action(async (options: { json?: boolean }) => (await import('../keyring.ts')).makePqKey(options));

  operatorCommand(keys, 'revoke')
    .description(
      'Revokes a key, and replaces it if it is active. After `compromised`, only receipts anchored before the revocation stay trusted.',
    )
    .argument('<key-id>', 'the id of the key (tally keys list)')
    .addOption(new Option('--reason <reason>', 'why').choices([...REVOCATION_REASONS]).makeOptionMandatory())
    .option('--at <time>', 'when the revocation took effect, in UTC (default: now)')
    .option(
      '--lost',
      'the receipt key can’t sign any more, as one that was destroyed in a KMS: begin the service’s record anew without it',
    )
    .option('--json', 'as JSON')
    .action(
      async (
        keyId: string,
        options: { reason: RevocationReason; at?: string; lost?: boolean; json?: boolean },
      ) => (await import('../keyring.ts')).revoke(keyId, options),
    );

  operatorCommand(keys, 'passphrase')
    .description(
      'Encrypts the keyring with another passphrase, or with its first one; with --none, takes its passphrase away. Stop the service before: it knows only the passphrase that it was started with.',
    )
    .argument('[file]', 'a file with the new passphrase; the present one is that of the configuration')
    .option('--none', 'no passphrase from now on: whoever can read the keyring has its keys')
    .option('--keyring <file>', 'another keyring, such as that of the root (default: that of the service)')
    .option('--json', 'as JSON')
    .action(async (file: string | undefined, options: { none?: boolean; keyring?: string; json?: boolean }) =>
      (await import('../keyring.ts')).changePassphrase(file, options),
    );
}

const MAX_GRACE = 7 * 86_400;

function graceSeconds(text: string): number {
  const seconds = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (seconds >= 1 && seconds <= MAX_GRACE) return seconds;
  throw new InvalidArgumentError(`It is a number of seconds from 1 to ${MAX_GRACE}.`);
}
