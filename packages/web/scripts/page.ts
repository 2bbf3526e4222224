import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { profiles, type ReceiptProfile } from '@tallystick/core';
import { transform } from 'esbuild';
import { bundleLater, bundleScript, inert, TARGET } from './bundle.ts';
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
  readonly entry: string;
  /** Entry of a second script, which stands in the page as text until the first one runs it. */
  readonly later?: string;
  /** Files in `src/styles/`; later ones win. */
  readonly styles: readonly string[];
  /** CSP source that its script may send requests to: `'none'`, or `'self'` for the service that serves it. */
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
  receipts: {
    title: 'Receipts',
    description: 'Looks a receipt up by its id, verifies it here, and shows where it is anchored.',
    path: '/receipts',
    content: ['receipts/page.html', 'verdict.html'],
    words: ['words.json', 'receipts/words.json'],
    entry: 'receipts/main.ts',
    styles: ['base', 'header', 'controls', 'parts', 'form', 'verdict', 'details', 'five', 'media', 'console'],
    connect: "'self'",
  },
  log: {
    title: 'The anchor log',
    description: 'The size of the anchor log, its newest checkpoint, and the roots posted to the chain.',
    path: '/log',
    content: ['log/page.html'],
    words: ['log/words.json'],
    entry: 'log/main.ts',
    styles: ['base', 'header', 'controls', 'parts', 'form', 'verdict', 'details', 'scroll', 'console'],
    connect: "'self'",
  },
  usage: {
    title: 'Usage',
    description: 'What a DID or an API key used, what compression saved, and which models answered.',
    path: '/usage',
    content: ['usage/page.html'],
    words: ['usage/words.json'],
    entry: 'usage/main.ts',
    styles: ['base', 'header', 'controls', 'parts', 'form', 'verdict', 'plot', 'scroll', 'console'],
    connect: "'self'",
  },
  leaderboard: {
    title: 'Leaderboard',
    description: 'The members with the most completed calls, their tiers, and their shares of the saving.',
    path: '/leaderboard',
    content: ['leaderboard/page.html'],
    words: ['leaderboard/words.json'],
    entry: 'leaderboard/main.ts',
    styles: ['base', 'header', 'controls', 'parts', 'verdict', 'plot', 'scroll', 'console'],
    connect: "'self'",
  },
  status: {
    title: 'Status',
    description:
      "The state of this service's endpoints: checked every minute, signed, and verified in this page.",
    path: '/status',
    content: ['status/page.html'],
    words: ['status/words.json'],
    entry: 'status/main.ts',
    styles: ['base', 'header', 'controls', 'parts', 'verdict', 'scroll', 'console', 'status'],
    connect: "'self'",
  },
} as const satisfies Record<string, PageDefinition>;

export type PageName = keyof typeof PAGES;

const pageNames = Object.keys(PAGES) as readonly PageName[];

/** URL of a built page, for the server and for tests. */
export const builtPage = (name: PageName): URL => new URL(`../built/${name}.html`, import.meta.url);

/** Builds a whole page as one file, and its script separately. The same sources give the same bytes. */
export async function buildPage(
  name: PageName,
): Promise<{ html: string; script: string; later: string | null }> {
  const page: PageDefinition = PAGES[name];
  const { script, licenses } = await bundleScript(new URL(page.entry, source));
  const later = page.later === undefined ? null : (await bundleLater(new URL(page.later, source))).script;
  const style = await minifyStyle(page.styles);
  const parts: Record<string, string> = {
    title: page.title,
    description: page.description,
    csp: policyOf(page, later === null ? [script] : [script, later], style),
    style,
    licenses: inert(licenses, '-->'),
    icon: await buildIcon(),
    header: headerFor(await buildHeader(), page.path),
    content: (await Promise.all(page.content.map(read)))
      .join('\n')
      .trimEnd()
      .replace('{{kept}}', () => KEPT),
    words: json(await wordsOf(page.words)),
    data: dataBlocks((await page.data?.()) ?? {}) + laterBlock(later),
    script,
  };
  const html = (await read('shell.html')).replaceAll(
    /\{\{(\w+)\}\}/g,
    (place, part: string) => parts[part] ?? place,
  );
  return { html, script, later };
}

const laterBlock = (script: string | null): string =>
  script === null ? '' : `\n<script type="text/plain" id="later">${script}</script>`;

/** Retention of each profile, in words. */
const KEPT = profiles.map(({ name, kept }) => `${name} ${kept}`).join(', ');

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

function policyOf({ connect }: PageDefinition, scripts: readonly string[], style: string): string {
  return [
    "default-src 'none'",
    `script-src ${scripts.map((script) => `'${digestOf(script)}'`).join(' ')}`,
    `style-src '${digestOf(style)}'`,
    'img-src data:',
    `connect-src ${connect}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

/** The pages in the order in which a newcomer needs them. The brand links to `/`. */
const LINKS = [
  ['/verify', 'Verify'],
  ['/receipts', 'Receipts'],
  ['/evidence', 'Evidence'],
  ['/log', 'Log'],
  ['/usage', 'Usage'],
  ['/leaderboard', 'Leaderboard'],
  ['/benchmark', 'Benchmark'],
  ['/status', 'Status'],
  ['/docs', 'Reference'],
] as const;

/** Files that every page contains. They are also built separately for the server, whose reference has the same. */
const sharedParts = {
  'icon.html': () => buildIcon(),
  'header.html': () => buildHeader(),
  'header.css': () => minifyStyle(['header']),
} as const satisfies Record<string, () => Promise<string>>;

/** The files that are built, by name. `script` is the page's own script, if the file is a page, and `later` its second one. */
export const outputs: Readonly<
  Record<string, () => Promise<{ text: string; script?: string; later?: string | null }>>
> = Object.fromEntries([
  ...pageNames.map((name) => [
    `${name}.html`,
    async () => {
      const { html, script, later } = await buildPage(name);
      return { text: html, script, later };
    },
  ]),
  ...Object.entries(sharedParts).map(([file, build]) => [file, async () => ({ text: await build() })]),
]);

const buildIcon = async (): Promise<string> => (await read('icon.html')).trimEnd();

/** The header, in which no page is marked as the current one. */
async function buildHeader(): Promise<string> {
  const links = LINKS.map(([path, text]) => `<a href="${path}">${text}</a>`).join('');
  return (await read('header.html')).trimEnd().replace('{{pages}}', () => links);
}

const headerFor = (header: string, path: string): string =>
  header.replace(`<a href="${path}"`, `<a href="${path}" aria-current="page"`);

async function minifyStyle(names: readonly string[]): Promise<string> {
  const sheets = await Promise.all(names.map((name) => read(`styles/${name}.css`)));
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

/** The SHA-256 of a script or style as a CSP source (CSP Level 3, section 2.3.1). */
function digestOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
