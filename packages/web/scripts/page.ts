import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { transform } from 'esbuild';
import { bundleScript, inert, TARGET } from './bundle.ts';
import { makeSamples } from './samples.ts';

const source = new URL('../src/', import.meta.url);

/** A page as its author writes it. Files are in `src/`. */
interface PageDefinition {
  readonly title: string;
  /** One sentence for search engines; it stands in an attribute. */
  readonly description: string;
  readonly path: string;
  /** What stands between the header and the scripts. */
  readonly content: string;
  readonly words: string;
  readonly entry: string;
  /** Of `src/styles/`; later ones win. */
  readonly styles: readonly string[];
  /** The CSP sources that its script may ask: `'none'`, or `'self'` for the service that serves it. */
  readonly connect: "'none'" | "'self'";
  /** Further JSON blocks by id. */
  readonly data?: () => Promise<Readonly<Record<string, unknown>>>;
}

const PAGES = {
  verify: {
    title: 'Verify a receipt',
    description: 'Checks a signed receipt in your own browser. Nothing is sent.',
    path: '/verify',
    content: 'verify.html',
    words: 'words.json',
    entry: 'main.ts',
    styles: ['base', 'controls', 'parts', 'form', 'verdict', 'details', 'five', 'media'],
    connect: "'none'",
    data: async () => ({ samples: await makeSamples() }),
  },
  benchmark: {
    title: 'Compression benchmark',
    description:
      'What is left of the facts when prompts are cut: measured, signed, and made again by one command.',
    path: '/benchmark',
    content: 'benchmark/page.html',
    words: 'benchmark/words.json',
    entry: 'benchmark/main.ts',
    styles: ['base', 'controls', 'parts', 'verdict', 'plot', 'benchmark'],
    connect: "'self'",
  },
} as const satisfies Record<string, PageDefinition>;

export type PageName = keyof typeof PAGES;

export const pageNames = Object.keys(PAGES) as readonly PageName[];

/** Where a built page is committed, for the server and for whoever wants the one file. */
export const builtPage = (name: PageName): URL => new URL(`../built/${name}.html`, import.meta.url);

/** A whole page as one file, and its script by itself. The same sources give the same bytes. */
export async function buildPage(name: PageName): Promise<{ html: string; script: string }> {
  const page: PageDefinition = PAGES[name];
  const { script, licenses } = await bundleScript(new URL(page.entry, source));
  const style = await minifyStyle(page.styles);
  const parts: Record<string, string> = {
    title: page.title,
    description: page.description,
    csp: policyOf(page, script, style),
    style,
    licenses: inert(licenses, '-->'),
    pages: links(page.path),
    content: (await read(page.content)).trimEnd(),
    words: json(JSON.parse(await read(page.words))),
    data: dataBlocks((await page.data?.()) ?? {}),
    script,
  };
  const html = (await read('shell.html')).replaceAll(
    /\{\{(\w+)\}\}/g,
    (place, part: string) => parts[part] ?? place,
  );
  return { html, script };
}

const read = (file: string): Promise<string> => readFile(new URL(file, source), 'utf8');

function policyOf({ connect }: PageDefinition, script: string, style: string): string {
  return [
    "default-src 'none'",
    `script-src '${digestOf(script)}'`,
    `style-src '${digestOf(style)}'`,
    'img-src data:',
    `connect-src ${connect}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

/** The header's links; the order is the one in which a newcomer needs them. */
const LINKS = [
  ['/verify', 'Verify'],
  ['/benchmark', 'Benchmark'],
  ['/docs', 'Reference'],
] as const;

function links(current: string): string {
  return LINKS.map(([path, text]) => {
    const mark = path === current ? ' aria-current="page"' : '';
    return `<a href="${path}"${mark}>${text}</a>`;
  }).join('');
}

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

/** JSON that cannot end the element that it stands in. */
function json(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}

/** A CSP source (CSP Level 3, section 2.3.1). */
function digestOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
