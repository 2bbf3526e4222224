import { existsSync, readdirSync, readFileSync } from 'node:fs';

const folder = new URL('../../../../shared/vectors/', import.meta.url);

/** Whether the conformance vectors are there. They are not part of the project; without them their tests are skipped. */
export const haveSharedVectors = existsSync(folder);

/** One case of Wycheproof; bytes are hex. */
export interface WycheproofCase {
  readonly name: string;
  readonly publicKey: string;
  readonly message: string;
  readonly signature: string;
  readonly result: string;
}

interface WycheproofFile {
  readonly testGroups: readonly {
    readonly publicKey: { readonly pk: string };
    readonly tests: readonly {
      readonly tcId: number;
      readonly comment: string;
      readonly msg: string;
      readonly sig: string;
      readonly result: string;
    }[];
  }[];
}

/** Every Ed25519 case of C2SP/wycheproof. */
export function wycheproofEd25519(): WycheproofCase[] {
  const file = JSON.parse(readSharedText('wycheproof/ed25519_test.json')) as WycheproofFile;
  return file.testGroups.flatMap(({ publicKey, tests }) =>
    tests.map(({ tcId, comment, msg, sig, result }) => ({
      name: `${tcId} ${comment}`.trim(),
      publicKey: publicKey.pk,
      message: msg,
      signature: sig,
      result,
    })),
  );
}

/** The input and output files of RFC 8785's reference implementation, as text. */
export function jcsPairs(): { name: string; input: string; output: string }[] {
  return readdirSync(new URL('jcs/input/', folder)).map((name) => ({
    name,
    input: readSharedText(`jcs/input/${name}`),
    output: readSharedText(`jcs/output/${name}`),
  }));
}

export function readSharedText(path: string): string {
  return readFileSync(new URL(path, folder), 'utf8');
}
