import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { profiles, type ReceiptProfile } from '@tallystick/core';
import { transform } from 'esbuild';
import { navigation } from '../src/navigation.ts';
import { bundleAssets, bundleFirst, bundleLater, bundleScript, digestOf, inert, TARGET } from './bundle.ts';
import { buildConsole } from './console.ts';
import { errorList } from './errors.ts';
import { pictures } from './pictures.ts';
import { buildReference } from './reference.ts';
import { makeSamples } from './samples.ts';

const source = new URL('../src/', import.meta.url);

/** The definition of a page. Files are in `src/`. */
interface PageDefinition {
  readonly title: string;
  /** One sentence for search engines; it is put into an attribute. */
  readonly description: string;
  readonly path: string;
  /** Files whose contents, one after the other, stand between the header and the scripts. */
  readonly content: readonly string[];
  /** Files with the page's prose: their members are put together. */
  readonly words: readonly string[];
  /** Its script; a page of text has none. */
  readonly entry?: string;
  /** Whether it is given the evidence behind bills, or payments; it is unless this says no. */
  readonly hasEvidence?: false;
  /** Entry of a second script, which stands in the page as text until the first one runs it. */
  readonly later?: string;
  /** Entry of a third script, likewise. */
  readonly together?: string;
  /** Files in `src/styles/`; later ones win. */
  readonly styles: readonly string[];
  /**
   * CSP source that its script may send requests to: `'none'` for a page that is one file and works from disk, or `'self'`
   * for the service that serves it, which then also has the type faces.
   */
  readonly connect: "'none'" | "'self'";
  /** Further JSON blocks by id. */
  readonly data?: () => Promise<Readonly<Record<string, unknown>>>;
}

const PAGES = {
  verify: {
    title: 'Verify a receipt',
    description: 'Checks a signed receipt in your own browser. Nothing is sent.',
    path: '/verify',
    content: ['verify.html', 'verdict.html', 'sessions/parts.html'],
    words: ['words.json', 'sessions/words.json', 'foreign/words.json'],
    entry: 'main.ts',
    later: 'later/main.ts',
    together: 'together/main.ts',
    styles: ['base', 'header', 'controls', 'parts', 'form', 'verdict', 'details', 'five', 'session', 'media'],
    connect: "'none'",
    data: async () => ({ samples: await makeSamples() }),
  },
  benchmark: {
    title: 'Compression benchmark',
    description:
      'How many facts survive when prompts are cut: measured, signed, and reproducible with one command.',
    path: '/benchmark',
    content: ['benchmark/page.html'],
    words: ['benchmark/words.json'],
    entry: 'benchmark/main.ts',
    hasEvidence: false,
    styles: ['base', 'header', 'controls', 'parts', 'verdict', 'plot', 'scroll', 'benchmark'],
    connect: "'self'",
  },
  evidence: {
    title: 'Verify an evidence bundle',
    description: 'Checks a bundle of receipts, file by file, in your own browser. Nothing is sent.',
    path: '/evidence',
    content: ['evidence/page.html'],
    words: ['evidence/words.json'],
    entry: 'evidence/main.ts',
    hasEvidence: false,
    later: 'later/pq.ts',
    styles: ['base', 'header', 'controls', 'parts', 'form', 'verdict', 'details', 'media', 'evidence'],
    connect: "'none'",
  },
  landing: {
    title: 'Receipts that anyone can check',
    description:
      'Signed receipts for AI calls and machine work, anchored in a public log: mint one and verify it here.',
    path: '/',
    content: ['landing/page.html'],
    words: ['landing/words.json'],
    entry: 'landing/main.ts',
    styles: ['base', 'header', 'controls', 'parts', 'form', 'verdict', 'landing'],
    connect: "'self'",
  },
  errors: {
    title: 'Errors',
    description: 'Every error code of the service, and what to do about it.',
    path: '/docs/errors',
    content: ['errors/page.html'],
    words: [],
    styles: ['base', 'header', 'errors'],
    connect: "'self'",
  },
} as const satisfies Record<string, PageDefinition>;

export type PageName = keyof typeof PAGES;

const pageNames = Object.keys(PAGES) as readonly PageName[];

/** URL of a built page, for the server and for tests. */
export const builtPage = (name: PageName): URL => new URL(`../built/${name}.html`, import.meta.url);

interface BuiltPage {
  readonly html: string;
  /** The script that is the page's own; null for a page of text. */
  readonly script: string | null;
  readonly later: string | null;
  readonly together: string | null;
  readonly assets: ReadonlyMap<string, Uint8Array>;
}

/** Builds a whole page as one file, and its script separately. The same sources give the same bytes. */
export async function buildPage(name: PageName): Promise<BuiltPage> {
  const page: PageDefinition = PAGES[name];
  const { script, licenses } =
    page.entry === undefined
      ? { script: null, licenses: '' }
      : await bundleScript(new URL(page.entry, source), {
          hasLater: page.later !== undefined,
          hasEvidence: page.hasEvidence ?? true,
        });
  const [later = null, together = null] = await Promise.all(
    [page.later, page.together].map(async (entry) =>
      entry === undefined ? null : (await bundleLater(new URL(entry, source))).script,
    ),
  );
  const first = await bundleFirst();
  const { faces, assets } = page.connect === "'self'" ? await buildFaces() : { faces: '', assets: new Map() };
  const style = faces + (await minifyStyle(page.styles));
  const parts: Record<string, string> = {
    title: page.title,
    description: page.description,
    csp: policyOf(page, [first, script, later, together], style),
    first,
    style,
    licenses: inert(licenses, '-->'),
    icon: await buildIcon(),
    sprite: (await read('sprite.html')).trimEnd(),
    header: await buildHeader(page.path),
    content: (await Promise.all(page.content.map(read)))
      .join('\n')
      .trimEnd()
      .replaceAll(/\{\{(kept|errors|source)\}\}/g, (_, part: keyof typeof FILLED) => FILLED[part]()),
    words: json(await wordsOf(page.words)),
    data:
      dataBlocks((await page.data?.()) ?? {}) + textBlock('later', later) + textBlock('together', together),
    script: script === null ? '' : `\n<script>${script}</script>`,
  };
  const html = (await read('shell.html')).replaceAll(
    /\{\{(\w+)\}\}/g,
    (place, part: string) => parts[part] ?? place,
  );
  return { html, script, later, together, assets };
}

/** The type faces that the console has too: their style sheet, and their files. */
async function buildFaces(): Promise<{ faces: string; assets: ReadonlyMap<string, Uint8Array> }> {
  const assets = await bundleAssets({ faces: 'console/styles/fonts.css' });
  const [file = '', sheet] = [...assets].find(([name]) => name.endsWith('.css')) ?? [];
  assets.delete(file);
  return {
    faces: inert(
      Buffer.from(sheet ?? [])
        .toString()
        .trim(),
      '</style',
    ),
    assets,
  };
}

/** A script that stands in the page as text. */
const textBlock = (id: string, script: string | null): string =>
  script === null ? '' : `\n<script type="text/plain" id="${id}">${script}</script>`;

/** Retention of each profile, in words. */
const KEPT = profiles.map(({ name, kept }) => `${name} ${kept}`).join(', ');

/** Where the source is, as the packages say. */
const SOURCE: string = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
).homepage;

/** Parts of pages that are filled in when they are built. */
const FILLED = { kept: () => KEPT, errors: errorList, source: () => SOURCE };

const DESCRIBED: readonly ReceiptProfile[] = profiles;

/** The prose of a page. Where it names the kinds of receipts, the profiles are inserted from their descriptors. */
async function wordsOf(files: readonly string[]): Promise<object> {
  const texts = await Promise.all(files.map(read));
  const words: Words = Object.assign({}, ...texts.map((text) => JSON.parse(text)));
  if (words.proof === undefined) return words;
  const byName = <T>(of: (page: ReceiptProfile['page']) => T | undefined): Record<string, T> =>
    Object.fromEntries(
      DESCRIBED.flatMap(({ name, page }) => {
        const one = of(page);
        return one === undefined ? [] : [[name, one]];
      }),
    );
  return {
    ...words,
    names: { ...words.names, ...byName(({ title }) => title) },
    proof: { ...words.proof, ...byName(({ proves, not }) => ({ proves, not })) },
    glosses: { ...words.glosses, ...byName(({ glosses }) => glosses) },
  };
}

interface Words {
  readonly names?: object;
  readonly proof?: object;
  readonly glosses?: object;
}

const read = (file: string): Promise<string> => readFile(new URL(file, source), 'utf8');

function policyOf({ connect }: PageDefinition, scripts: readonly (string | null)[], style: string): string {
  const digests = scripts.flatMap((script) => (script === null ? [] : [`'${digestOf(script)}'`]));
  return [
    "default-src 'none'",
    `script-src ${digests.join(' ')}`,
    `style-src '${digestOf(style)}'`,
    ...(connect === "'self'" ? ["font-src 'self'"] : []),
    'img-src data:',
    `connect-src ${connect}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

/** A built file. Files that a page loads by name are built with it. */
interface Output {
  readonly contents: string | Uint8Array;
  /** The page's own script, if the file is a page whose script stands in it. */
  readonly script?: string | null;
  /** Its second script, and its third. */
  readonly later?: string | null;
  readonly together?: string | null;
  /** Files in `assets/`, by name. */
  readonly assets?: ReadonlyMap<string, Uint8Array>;
}

/** The files that are built, by name. */
export const outputs: Readonly<Record<string, () => Promise<Output>>> = Object.fromEntries([
  ...pageNames.map((name) => [
    `${name}.html`,
    async () => {
      const { html, ...rest } = await buildPage(name);
      return { contents: html, ...rest };
    },
  ]),
  [
    'console.html',
    async () => {
      const words = await wordsOf(['words.json']);
      const { html, assets } = await buildConsole(await buildIcon(), words);
      return { contents: html, assets };
    },
  ],
  [
    'docs.html',
    async () => {
      const parts = { icon: await buildIcon(), header: await buildHeader('/docs') };
      const { html, assets } = await buildReference(parts);
      return { contents: html, assets };
    },
  ],
  ...pictures.map((file) => [
    file,
    async () => ({ contents: await readFile(new URL(`pictures/${file}`, source)) }),
  ]),
]);

const buildIcon = async (): Promise<string> => (await read('icon.html')).trimEnd();

/** The header, in which the page at the path is marked as the current one. */
async function buildHeader(current: string): Promise<string> {
  const groups = navigation.map(({ title, entries }) => {
    const links = entries.map(({ title, path }) => {
      const mark = path === current ? ' aria-current="page"' : '';
      return `<li><a href="${path}"${mark}>${title}</a></li>`;
    });
    return `<details name="pages"><summary>${title}</summary><ul>${links.join('')}</ul></details>`;
  });
  return (await read('header.html')).trimEnd().replace('{{pages}}', () => groups.join(''));
}

async function minifyStyle(names: readonly string[]): Promise<string> {
  const files = ['console/styles/tokens.css', ...names.map((name) => `styles/${name}.css`)];
  const sheets = await Promise.all(files.map(read));
  const { code } = await transform(sheets.join('\n'), { loader: 'css', minify: true, target: TARGET });
  return inert(code.trim(), '</style');
}

function dataBlocks(blocks: Readonly<Record<string, unknown>>): string {
  return Object.entries(blocks)
    .map(([id, value]) => `<script type="application/json" id="${id}">${json(value)}</script>`)
    .join('\n');
}

/** JSON that cannot end the element that contains it. */
function json(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}
