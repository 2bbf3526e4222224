import { existsSync, linkSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  generateSecretKey,
  keyDocument,
  parseJson,
  type Signer,
  secretInKeyDocument,
  TallyError,
} from '@tallystick/core';
import { createSigner } from '../issuers/create-signer.ts';
import { writeNew } from './files.ts';
import { tallyHome } from './home.ts';

/** The user's own key for recording, in `recorder.json` of `tallyHome()`. It is made on first use. @throws invalid_secret_key, json_* */
export async function ownKey(): Promise<Signer> {
  const path = join(tallyHome(), 'recorder.json');
  if (!existsSync(path)) makeKey(path);
  try {
    return await createSigner(secretInKeyDocument(parseJson(readFileSync(path))));
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    throw new TallyError(error.code, `${path}: ${error.message}`, { cause: error });
  }
}

/** Makes a key file, unless another process has made it meanwhile. */
function makeKey(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}.new`;
  writeNew(temporary, `${keyDocument(generateSecretKey())}\n`);
  try {
    linkSync(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}
