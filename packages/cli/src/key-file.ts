import {
  createSigner,
  generateSecretKey,
  keyDocument,
  type Signer,
  secretInKeyDocument,
  TallyError,
} from '@tallystick/core';
import { writeSecret } from './files.ts';
import { readJson } from './input.ts';

/** Makes a key and writes it to a new file of mode 0600. @throws UsageError if the file exists */
export async function generateKeyFile(path: string): Promise<Signer> {
  const secret = generateSecretKey();
  writeSecret(path, `${keyDocument(secret)}\n`);
  return createSigner(secret);
}

/** The signer of a key file. @throws UsageError, json_*, invalid_secret_key */
export async function readKeyFile(path: string): Promise<Signer> {
  return createSigner(await readSecretKey(path));
}

/** The 32-byte secret of a key file, for what a signer can't do. Throws as `readKeyFile`. */
export async function readSecretKey(path: string): Promise<Uint8Array> {
  const document = await readJson(path);
  try {
    return secretInKeyDocument(document);
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    throw new TallyError(error.code, `${path}: ${error.message}`, { cause: error });
  }
}
