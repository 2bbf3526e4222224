import {
  canonicalize,
  createSigner,
  fromBase64url,
  generateSecretKey,
  isObject,
  type Signer,
  TallyError,
  toBase64url,
} from '@tallystick/core';
import { writeSecret } from './files.ts';
import { readJson } from './input.ts';

const KEY_TYPE = 'tally-key-v1';

/** Makes a key and writes it to a new file of mode 0600. @throws UsageError if the file exists */
export async function generateKeyFile(path: string): Promise<Signer> {
  const secret = generateSecretKey();
  const signer = await createSigner(secret);
  const text = canonicalize({ type: KEY_TYPE, key_id: signer.keyId, secret: toBase64url(secret) });
  writeSecret(path, `${text}\n`);
  return signer;
}

/** The signer of a key file. @throws UsageError, json_*, invalid_secret_key */
export async function readKeyFile(path: string): Promise<Signer> {
  return createSigner(await readSecretKey(path));
}

/** The 32-byte secret of a key file, for what a signer can't do. Throws as `readKeyFile`. */
export async function readSecretKey(path: string): Promise<Uint8Array> {
  const file = await readJson(path);
  if (!isObject(file) || file.type !== KEY_TYPE || typeof file.secret !== 'string') {
    throw new TallyError(
      'invalid_secret_key',
      `${path} is not a key file. Make one with: tally keys generate --out <file>`,
    );
  }
  const secret = fromBase64url(file.secret, 32);
  const { keyId } = await createSigner(secret);
  if (keyId !== file.key_id) {
    throw new TallyError(
      'invalid_secret_key',
      `The key_id in ${path} does not match its secret. Use a copy that was not edited.`,
    );
  }
  return secret;
}
