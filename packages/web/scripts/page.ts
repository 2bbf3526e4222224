import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build, type Plugin, transform } from 'esbuild';
import { minify } from 'terser';
import { makeSamples } from './samples.ts';

const source = new URL('../src/', import.meta.url);
const TARGET = 'es2022';
/** Later ones win. */
const STYLES = ['base', 'form', 'verdict', 'details', 'five', 'media'];

/** Where the built page is committed, for the server and for whoever wants the one file. */
export const builtPage = new URL('../built/verify.html', import.meta.url);

/** The whole page as one file, and its script by itself. The same sources give the same bytes. */
export async function buildPage(): Promise<{ html: string; script: string }> {
  const { script, licenses } = await bundleScript();
  const style = await minifyStyle();
  const policy = [
    "default-src 'none'",
    `script-src '${digestOf(script)}'`,
    `style-src '${digestOf(style)}'`,
    'img-src data:',
    "connect-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const parts: Record<string, string> = {
    csp: policy,
    style,
    licenses: inert(licenses, '-->'),
    words: dataBlock(JSON.parse(await read('words.json'))),
    samples: dataBlock(await makeSamples()),
    script,
  };
  const template = await read('index.html');
  const html = template.replaceAll(/\{\{(\w+)\}\}/g, (place, name: string) => parts[name] ?? place);
  return { html, script };
}

const read = (file: string): Promise<string> => readFile(new URL(file, source), 'utf8');

async function bundleScript(): Promise<{ script: string; licenses: string }> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('main.ts', source))],
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
    plugins: [verifyingOnly],
  });
  const [script, licenses] = ['.js', '.LEGAL.txt'].map((end) =>
    outputFiles.find(({ path }) => path.endsWith(end)),
  );
  if (script === undefined || licenses === undefined)
    throw new Error('The bundle has not the parts expected.');
  // Terser's names and inlining compress better than esbuild's: 1.7 kB of the 40 that the script may take.
  const { code = '' } = await minify(script.text, {
    ecma: 2020,
    compress: { passes: 2 },
    format: { comments: false },
  });
  return { script: inert(code.trim(), '</script', '<!--'), licenses: licenses.text.trim() };
}

/** Of the Ed25519 library, core's engine uses the points alone; the rest of this object signs and makes keys. */
const SIGNING = 'export const ed25519 = /* @__PURE__ */ ed({});';

/**
 * Leaves out what verifying a receipt never calls: signing, and AES in JavaScript. Only the sample of a sealed document
 * needs AES, which browsers have wherever a page is from disk, over HTTPS or from this machine; elsewhere the page says
 * that it did not try. All the rest of core is taken as it is.
 */
const verifyingOnly: Plugin = {
  name: 'verifying-only',
  setup(build) {
    build.onLoad({ filter: /[\\/](?:gcm-short-nonce\.ts|ciphers[\\/]aes\.js)$/ }, () => ({
      contents:
        'const absent = () => { throw new Error("This page has no AES of its own."); }; export { absent as gcm, absent as gcmShortNonce };',
    }));
    build.onLoad({ filter: /[\\/]curves[\\/]ed25519\.js$/ }, async ({ path }) => {
      const contents = await readFile(path, 'utf8');
      if (!contents.includes(SIGNING)) throw new Error(`${path} has another form than expected.`);
      return { contents: contents.replace(SIGNING, 'export const ed25519 = { Point: ed25519_Point };') };
    });
  },
};

async function minifyStyle(): Promise<string> {
  const sheets = await Promise.all(STYLES.map((name) => read(`styles/${name}.css`)));
  const { code } = await transform(sheets.join('\n'), { loader: 'css', minify: true, target: TARGET });
  return inert(code.trim(), '</style');
}

/** JSON that cannot end the element that it stands in. */
function dataBlock(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}

/** The text, which must hold nothing that would end the element or comment around it. */
function inert(text: string, ...enders: readonly string[]): string {
  const found = enders.find((ender) => text.toLowerCase().includes(ender));
  if (found !== undefined) throw new Error(`The page can't hold ${found} there.`);
  return text;
}

/** A CSP source (CSP Level 3, section 2.3.1). */
function digestOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
