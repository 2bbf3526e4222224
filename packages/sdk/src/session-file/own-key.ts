import { existsSync, linkSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import {
  canonicalize,
  fromBase64url,
  generateSecretKey,
  isObject,
  parseJson,
  type Signer,
  TallyError,
  toBase64url,
} from '@tallystick/core';
import { createSigner } from '../issuers/create-signer.ts';
import { writeNew } from './files.ts';

const KEY_TYPE = 'tally-key-v1';

/** Folder of what Tallystick keeps for this user. A relative XDG_CONFIG_HOME is ignored, as its standard says. */
export function tallyHome(): string {
  const { TALLY_HOME: home = '', XDG_CONFIG_HOME: config = '' } = process.env;
  if (home !== '') return home;
  return join(isAbsolute(config) ? config : join(homedir(), '.config'), 'tallystick');
}

/** The user's own key for recording, in `recorder.json` of `tallyHome()`. It is made on first use. @throws invalid_secret_key */
export async function ownKey(): Promise<Signer> {
  const path = join(tallyHome(), 'recorder.json');
  if (!existsSync(path)) await makeKey(path);
  return createSigner(await readKey(path));
}

/** Makes a key file, unless another process has made it meanwhile. */
async function makeKey(path: string): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const secret = generateSecretKey();
  const { keyId } = await createSigner(secret);
  const temporary = `${path}.${process.pid}.new`;
  writeNew(temporary, `${canonicalize({ type: KEY_TYPE, key_id: keyId, secret: toBase64url(secret) })}\n`);
  try {
    linkSync(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** The 32-byte secret of a key file (`tally-key-v1`). */
async function readKey(path: string): Promise<Uint8Array> {
  const file = parseJson(readFileSync(path));
  if (isObject(file) && file.type === KEY_TYPE && typeof file.secret === 'string') {
    const secret = fromBase64url(file.secret, 32);
    const { keyId } = await createSigner(secret);
    if (keyId === file.key_id) return secret;
  }
  throw new TallyError('invalid_secret_key', `${path} is not a key file, or was edited.`);
}
