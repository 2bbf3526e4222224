import { existsSync } from 'node:fs';
import {
  type CommitmentLabel,
  canonicalize,
  fromBase64url,
  isObject,
  type JsonObject,
  newSalt,
  TallyError,
  toBase64url,
} from '@tallystick/core';
import { writeSecret } from '../files.ts';
import { readJson } from '../input.ts';
import { UsageError } from '../output.ts';

const SALT_TYPE = 'tally-metering-salt-v1';

/** The committed texts of a bill, by label. */
export type Committed = { readonly [Label in CommitmentLabel]?: string };

/** The salt and the texts that open the commitments of one bill, and the bill's identity. */
export interface BillSecrets {
  /** 32 bytes. */
  readonly salt: Uint8Array;
  readonly values: Committed;
  /** Unit and window of the bill. A salt belongs to one bill. */
  readonly bill: JsonObject;
}

/**
 * The secrets of a bill: those in the file if it belongs to the same bill, so that a bill can be sent again; else
 * new ones with a fresh salt, which is not written yet.
 * @throws UsageError for a file of another bill, or one that cannot be read; json_*, invalid_*
 */
export async function secretsFor(
  path: string,
  { values, bill }: Omit<BillSecrets, 'salt'>,
): Promise<{ secrets: BillSecrets; isNew: boolean }> {
  if (!existsSync(path)) return { secrets: { salt: newSalt(), values, bill }, isNew: true };
  const secrets = await readSaltFile(path);
  if (canonicalize({ ...secrets.values }) !== canonicalize({ ...values }) || !sameBill(secrets.bill, bill)) {
    throw new UsageError(
      `${path} holds the salt of another bill; it is left as it is. Choose another name with --salt-file.`,
    );
  }
  return { secrets, isNew: false };
}

const sameBill = (a: JsonObject, b: JsonObject): boolean => canonicalize(a) === canonicalize(b);

/** Writes the secrets to a new file. @throws UsageError if the file exists or cannot be written */
export function writeSaltFile(path: string, { salt, values, bill }: BillSecrets): void {
  const text = canonicalize({ type: SALT_TYPE, salt: toBase64url(salt), values: { ...values }, bill });
  writeSecret(path, `${text}\n`);
}

/** Reads the secrets from a file. @throws UsageError when it cannot be read; json_*, invalid_field, invalid_base64url */
export async function readSaltFile(path: string): Promise<BillSecrets> {
  const file = await readJson(path);
  if (!isObject(file) || file.type !== SALT_TYPE || typeof file.salt !== 'string' || !isObject(file.bill)) {
    throw notASaltFile(path);
  }
  const { values } = file;
  if (!isObject(values) || Object.values(values).some((value) => typeof value !== 'string')) {
    throw notASaltFile(path);
  }
  return { salt: fromBase64url(file.salt, 32), values, bill: file.bill };
}

function notASaltFile(path: string): TallyError {
  return new TallyError('invalid_field', `${path} is not a salt file, as tally meter mint writes it.`);
}
