import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { minify } from 'terser';

/** The version of JavaScript that pages may use. */
export const TARGET = 'es2022';

/** Bundles an entry and its imports into one script, with the licences of the libraries in it; empty if there are none. */
export function bundleScript(entry: URL): Promise<Bundle> {
  return bundle(entry, [verifyingOnly]);
}

/** As `bundleScript`, for a script that is run by another one, whose verifier it uses. */
export function bundleLater(entry: URL): Promise<Bundle> {
  return bundle(entry, [verifierOfPage]);
}

interface Bundle {
  readonly script: string;
  readonly licenses: string;
}

async function bundle(entry: URL, plugins: Plugin[]): Promise<Bundle> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(entry)],
    outdir: 'out',
    bundle: true,
    minifySyntax: true,
    write: false,
    format: 'iife',
    platform: 'browser',
    target: TARGET,
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
    compress: { passes: 2 },
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
 * Removes what verifying never calls: signing, and AES in JavaScript. Only the sample of a sealed document
 * needs AES, which browsers provide on pages from disk, over HTTPS or from this machine; elsewhere the page says
 * that it did not try. The rest of core is used unchanged.
 */
const verifyingOnly: Plugin = {
  name: 'verifying-only',
  setup(build) {
    build.onLoad({ filter: /[\\/]ciphers[\\/]aes\.js$/ }, () => ({
      contents:
        'const absent = () => { throw new Error("This page has no AES of its own."); }; export { absent as gcm };',
    }));
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
    build.onLoad({ filter: /[\\/]curves[\\/]ed25519\.js$/ }, async ({ path }) => ({
      contents: await changed(path, SIGNING, 'export const ed25519 = { Point: ed25519_Point };'),
    }));
  },
};

/** What the first script gives to the second (`src/later/run.ts`); of the module's other exports neither needs any. */
const verifierOfPage: Plugin = {
  name: 'verifier-of-page',
  setup(build) {
    build.onLoad({ filter: /core[\\/]src[\\/]verify\.ts$/ }, () => ({
      contents:
        'export const { readReceipt, verifyParsed, evidenceVerifier, familyOf, settlementOf, verify } = globalThis.tallystickVerifier;',
    }));
  },
};

/** The text of a file with one part replaced, which must occur exactly once. */
async function changed(path: string, part: string, by: string): Promise<string> {
  const contents = await readFile(path, 'utf8');
  if (contents.split(part).length !== 2) throw new Error(`${path} has another form than expected.`);
  return contents.replace(part, () => by);
}

/** The text, which must not contain anything that would end the element or comment around it. */
export function inert(text: string, ...enders: readonly string[]): string {
  const found = enders.find((ender) => text.toLowerCase().includes(ender));
  if (found !== undefined) throw new Error(`The page can't hold ${found} there.`);
  return text;
}
