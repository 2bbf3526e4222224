import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { minify } from 'terser';

const source = new URL('../src/', import.meta.url);

/** The router's decision: the console makes a recorded choice again by the code that made it, loaded when it is wanted. */
const ROUTER = new URL('../../inference/src/router/redecide.ts', import.meta.url);

/** Bytes depend on paths below this folder, which must not depend on where the build was started. */
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** The version of JavaScript that pages may use. */
export const TARGET = 'es2022';

/** What a page's first script needs beside its own modules. */
interface Needs {
  /** Whether the page has a second script, which then judges ML-DSA signatures. */
  readonly hasLater: boolean;
  /** Whether it is given the evidence behind bills, or payments. */
  readonly hasEvidence: boolean;
}

/** Bundles an entry and its imports into one script, with the licences of the libraries in it; empty if there are none. */
export function bundleScript(entry: URL, { hasLater, hasEvidence }: Needs): Promise<Bundle> {
  return bundle(entry, [
    ...(hasEvidence ? [] : [withoutEvidence]),
    verifyingOnly,
    withoutAes,
    withoutSigning,
    withoutMlDsa,
    ...(hasLater ? [pqLater, takenBackLater] : [withoutPq]),
  ]);
}

/** As `bundleScript`, for a script that is run by another one, whose verifier it uses. */
export function bundleLater(entry: URL): Promise<Bundle> {
  return bundle(entry, [verifierOfPage, withoutAes, mlDsaAtOnce]);
}

/** Bundles the script that stands in the head of each page, since it must run before anything is drawn. */
export async function bundleFirst(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('theme/first.ts', source))],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    platform: 'browser',
    target: TARGET,
    logLevel: 'silent',
  });
  return inert(outputFiles[0]?.text.trim() ?? '', '</script', '<!--');
}

/**
 * Bundles scripts and style sheets into files whose names hold hashes, with the files that they name.
 * @param entries files in `src/` by the first part of the name of what is made of each
 */
export async function bundleAssets(
  entries: Readonly<Record<string, string>>,
  plugins: Plugin[] = [],
): Promise<Map<string, Uint8Array>> {
  const { outputFiles } = await build({
    entryPoints: Object.fromEntries(
      Object.entries(entries).map(([name, file]) => [name, fileURLToPath(new URL(file, source))]),
    ),
    absWorkingDir: ROOT,
    outdir: 'assets',
    publicPath: '/assets',
    entryNames: '[name]-[hash]',
    chunkNames: 'part-[hash]',
    assetNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    target: TARGET,
    charset: 'utf8',
    legalComments: 'eof',
    loader: { '.woff2': 'file', '.html': 'text' },
    plugins,
    alias: { 'router-replay': fileURLToPath(ROUTER) },
    logLevel: 'silent',
  });
  return new Map(outputFiles.map(({ path, contents }) => [basename(path), contents]));
}

/** The address of the one asset whose name fits. */
export function assetNamed(assets: ReadonlyMap<string, Uint8Array>, pattern: RegExp): string {
  const name = [...assets.keys()].find((name) => pattern.test(name));
  if (name === undefined) throw new Error(`There is no asset ${pattern}.`);
  return `/assets/${name}`;
}

/** An asset that is no input of the bundler, under a name that holds its hash. */
export function hashedAsset(name: string, end: string, contents: Uint8Array): [string, Uint8Array] {
  const hash = createHash('sha256').update(contents).digest('hex').slice(0, 8).toUpperCase();
  return [`${name}-${hash}.${end}`, contents];
}

interface Bundle {
  readonly script: string;
  readonly licenses: string;
}

async function bundle(entry: URL, plugins: Plugin[]): Promise<Bundle> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(entry)],
    absWorkingDir: ROOT,
    outdir: 'out',
    bundle: true,
    minifySyntax: true,
    write: false,
    format: 'iife',
    platform: 'browser',
    target: TARGET,
    // What only Node has is left out.
    define: { 'globalThis.process': 'undefined' },
    charset: 'utf8',
    legalComments: 'external',
    logLevel: 'silent',
    plugins,
  });
  const [script, licenses] = ['.js', '.LEGAL.txt'].map((end) =>
    outputFiles.find(({ path }) => path.endsWith(end)),
  );
  if (script === undefined) throw new Error('The bundle has not the parts expected.');
  // Terser's names and inlining compress better than esbuild's: 1.7 kB of the 40 that the verifier's may take.
  const { code = '' } = await minify(script.text, {
    ecma: 2020,
    compress: { passes: 3 },
    format: { comments: false },
  });
  return { script: inert(code.trim(), '</script', '<!--'), licenses: licenses?.text.trim() ?? '' };
}

/** Removed: core's engine uses only the points of the Ed25519 library; the rest of this object signs and makes keys. */
const SIGNING = 'export const ed25519 = /* @__PURE__ */ ed({});';
/** Removed: square roots in any field. The curve has its own (RFC 8032, section 5.1.3), which points use. */
const ROOTS = '(sqrt = FpSqrt(this.ORDER))';
/** Replaces the fast reader of leaves, which is for millions of them. Where it reads nothing, core parses. */
const CANONICAL_LEAF = 'export const readCanonicalLeaf = () => 0;';
/** Replaces the check of an evidence policy: a page has none and shows what it finds. */
const EVIDENCE_POLICY = 'export const requireClass = () => {};';
/** Replaces the choice among trust bundles: a page has none but the enclosed one. */
const JUDGING_BUNDLE = 'export const judgingBundle = (enclosed) => enclosed;';
/** Removed: multiplying by secrets in constant time, from the first text to the second, where public numbers begin. */
const BY_SECRETS = [
  '    validateMulInput(point, scalar) {',
  '    mulUnsafe(point, scalar, transform) {',
] as const;
/** Replaced: the constants of SHA-256, which are the upper halves of those of SHA-512 (FIPS 180-4, section 4.2). */
const SHA_256_CONSTANTS = [
  /const SHA256_K = \/\* @__PURE__ \*\/ Uint32Array\.from\(\[[^\]]*\]\);/,
  ' const T1 = (H + sigma1 + Chi(E, F, G) + SHA256_K[i]',
  ' const T1 = (H + sigma1 + Chi(E, F, G) + SHA512_Kh[i]',
] as const;
/** Replaces core's compact set of hashes: a page holds all evidence in memory anyway, so a set of texts is as good. */
const HASH_SET =
  'export class HashSet { #texts = new Set(); add(hash) { return this.#texts.size < this.#texts.add(String(hash)).size; } }';

/**
 * Removes AES in JavaScript. Only the sample of a sealed document needs AES, which browsers provide on pages from disk, over HTTPS or
 * from this machine; elsewhere the page says that it did not try.
 */
const withoutAes: Plugin = {
  name: 'without-aes',
  setup(build) {
    build.onLoad({ filter: /[\\/]ciphers[\\/]aes\.js$/ }, () => ({
      contents:
        'const absent = () => { throw new Error("This page has no AES of its own."); }; export { absent as gcm };',
    }));
  },
};

/** Removes what verifying never calls. The rest of core is used unchanged. */
const verifyingOnly: Plugin = {
  name: 'verifying-only',
  setup(build) {
    build.onLoad({ filter: /[\\/]canonical-leaf\.ts$/ }, () => ({ contents: CANONICAL_LEAF }));
    build.onLoad({ filter: /[\\/]evidence-policy\.ts$/ }, () => ({ contents: EVIDENCE_POLICY }));
    build.onLoad({ filter: /[\\/]hash-set\.ts$/ }, () => ({ contents: HASH_SET }));
    build.onLoad({ filter: /[\\/]abstract[\\/]modular\.js$/ }, async ({ path }) => ({
      contents: await changed(
        path,
        ROOTS,
        '(sqrt = () => { throw new Error("This page takes no roots."); })',
      ),
    }));
    build.onLoad({ filter: /[\\/]abstract[\\/]curve\.js$/ }, async ({ path }) => {
      const [from, to] = BY_SECRETS;
      const [before = '', rest = ''] = (await changed(path, from, from)).split(from);
      return { contents: before + to + rest.slice(rest.indexOf(to) + to.length) };
    });
    build.onLoad({ filter: /[\\/]hashes[\\/]sha2\.js$/ }, async ({ path }) => {
      const [own, from, to] = SHA_256_CONSTANTS;
      return { contents: (await changed(path, from, to)).replace(own, '') };
    });
  },
};

/** Removes signing, which no page does. */
const withoutSigning: Plugin = {
  name: 'without-signing',
  setup(build) {
    build.onLoad({ filter: /[\\/]curves[\\/]ed25519\.js$/ }, async ({ path }) => ({
      contents: await changed(path, SIGNING, 'export const ed25519 = { Point: ed25519_Point };'),
    }));
  },
};

/** Replaces the judge of ML-DSA signatures by that of the second script, which few receipts need. */
const pqLater: Plugin = {
  name: 'pq-later',
  setup(build) {
    build.onLoad({ filter: /[\\/]assess-pq\.ts$/ }, () => ({
      contents:
        "import { later } from './run.ts'; export const assessPq = (...given) => later().assessPq(...given);",
      resolveDir: fileURLToPath(new URL('later/', source)),
    }));
  },
};

/** Leaves to the second script what a newer trust bundle takes back, which is nothing of an honest one. */
const takenBackLater: Plugin = {
  name: 'taken-back-later',
  setup(build) {
    build.onLoad({ filter: /[\\/]taken-back\.ts$/ }, () => ({
      contents:
        "import { later } from './run.ts'; export const takenBack = (...given) => later().takenBack(...given);",
      resolveDir: fileURLToPath(new URL('later/', source)),
    }));
  },
};

/** The modules of core that import ML-DSA when they need it, each with the words by which it does. */
const MLDSA_USERS = [
  [/[\\/]ml-dsa[\\/]assess-pq\.ts$/, './ml-dsa.ts'],
  [/[\\/]log[\\/]cosignature\.ts$/, '../ml-dsa/ml-dsa.ts'],
] as const;

/**
 * Imports ML-DSA at once, since this script is the one for later: what is imported when it is needed would be wrapped, with all that it
 * imports. Without OpenSSL, which only Node has.
 */
const mlDsaAtOnce: Plugin = {
  name: 'ml-dsa-at-once',
  setup(build) {
    for (const [filter, module] of MLDSA_USERS) {
      build.onLoad({ filter }, async ({ path }) => ({
        contents: `import { ML_DSA_44 as set44, ML_DSA_65 as set65, verifyMlDsa as verifyBySet } from '${module}';
          ${await changed(path, `await import('${module}')`, '{ ML_DSA_44: set44, ML_DSA_65: set65, verifyMlDsa: verifyBySet }')}`,
        loader: 'ts',
      }));
    }
    build.onLoad({ filter: /[\\/]ml-dsa[\\/]openssl\.ts$/ }, () => ({
      contents: 'export const openSslMlDsa = () => null;',
    }));
  },
};

/** Removes the library, which core imports when it is needed: the second script has it. */
const withoutMlDsa: Plugin = {
  name: 'without-ml-dsa',
  setup(build) {
    build.onLoad({ filter: /[\\/]ml-dsa[\\/]ml-dsa\.ts$/ }, () => ({
      contents:
        'export const ML_DSA_44 = null; export const verifyMlDsa = () => { throw new Error("This script has no ML-DSA."); };',
    }));
  },
};

/** Replaces it on pages that mint and show receipts of other kinds. */
const withoutPq: Plugin = {
  name: 'without-pq',
  setup(build) {
    build.onLoad({ filter: /[\\/]assess-pq\.ts$/ }, () => ({
      contents:
        "export const assessPq = () => [{ name: 'pq_signature', ok: null, detail: 'This page does not check ML-DSA.' }];",
    }));
  },
};

/**
 * Removes the judges of the evidence behind bills and of payments, neither of which is in a bundle, and leaves to the second script the
 * search for a receipt or a file that is not in its place, what is said of one, corrections, and why a receipt may be missing.
 */
const withoutEvidence: Plugin = {
  name: 'without-evidence',
  setup(build) {
    build.onLoad({ filter: /metering[\\/]intake\.ts$/ }, () => ({
      contents: 'export class EvidenceIntake {}',
    }));
    build.onLoad({ filter: /receipts[\\/]settlement\.ts$/ }, () => ({
      contents: 'export const checkSettlement = () => null;',
    }));
    build.onLoad({ filter: /receipts[\\/]named-settlement\.ts$/ }, () => ({
      contents: 'export const namedSettlement = () => null;',
    }));
    build.onLoad({ filter: /evidence[\\/]judging-bundle\.ts$/ }, () => ({ contents: JUDGING_BUNDLE }));
    build.onLoad({ filter: /evidence[\\/]corrections-check\.ts$/ }, () => ({
      contents:
        "import { later } from './run.ts'; export function CorrectionsCheck() { return new (later().CorrectionsCheck)(); }",
      resolveDir: fileURLToPath(new URL('later/', source)),
    }));
    build.onLoad({ filter: /evidence[\\/]find-renamed\.ts$/ }, () => ({
      contents:
        "import { later } from './run.ts'; export const findRenamed = (...given) => later().findRenamed(...given);",
      resolveDir: fileURLToPath(new URL('later/', source)),
    }));
    build.onLoad({ filter: /streams[\\/]change-fault\.ts$/ }, () => ({
      contents:
        "import { later } from './run.ts'; export const changeFault = (...given) => later().changeFault(...given);",
      resolveDir: fileURLToPath(new URL('later/', source)),
    }));
    build.onLoad({ filter: /streams[\\/]stream-fault\.ts$/ }, () => ({
      contents:
        "import { later } from './run.ts'; export const addedFault = (...given) => later().addedFault(...given); export const leftOut = (...given) => later().leftOut(...given);",
      resolveDir: fileURLToPath(new URL('later/', source)),
    }));
    build.onLoad({ filter: /evidence[\\/]excuses\.ts$/ }, () => ({
      contents:
        "import { later } from './run.ts'; export const excusesOf = (...given) => later().excusesOf(...given); export const withinPurges = (...given) => later().withinPurges(...given);",
      resolveDir: fileURLToPath(new URL('later/', source)),
    }));
  },
};

/** What the first script gives to the second (`src/later/run.ts`), from two modules of core; of their other exports neither needs any. */
const verifierOfPage: Plugin = {
  name: 'verifier-of-page',
  setup(build) {
    build.onLoad({ filter: /core[\\/]src[\\/]verify\.ts$/ }, () => ({
      contents:
        'export const { readReceipt, verifyParsed, evidenceVerifier, familyOf, settlementOf, verify } = globalThis.tallystickVerifier;',
    }));
    build.onLoad({ filter: /core[\\/]src[\\/]ed25519[\\/]engines\.ts$/ }, () => ({
      contents:
        'export const { defaultEngine, nobleEngine, webCryptoEngine, nodeCrypto } = globalThis.tallystickVerifier;',
    }));
  },
};

/** The text of a file with one part replaced, which must occur exactly once. */
export async function changed(path: string, part: string, by: string): Promise<string> {
  return replaceOnce(await readFile(path, 'utf8'), part, by);
}

/** @throws unless the part occurs exactly once */
export function replaceOnce(contents: string, part: string, by: string): string {
  if (contents.split(part).length !== 2) throw new Error(`A library has not “${part}” once, as expected.`);
  return contents.replace(part, () => by);
}

/** The text, which must not contain anything that would end the element or comment around it. */
export function inert(text: string, ...enders: readonly string[]): string {
  const found = enders.find((ender) => text.toLowerCase().includes(ender));
  if (found !== undefined) throw new Error(`The page can't hold ${found} there.`);
  return text;
}

/** The SHA-256 of a script or style as a CSP source (CSP Level 3, section 2.3.1). */
export function digestOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
