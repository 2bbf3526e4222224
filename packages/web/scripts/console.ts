import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';
import { assetNamed, bundleAssets, bundleFirst, changed, digestOf, hashedAsset } from './bundle.ts';

const source = new URL('../src/console/', import.meta.url);

/** A page, and the files that it loads by name, each of which holds the hash of its contents. */
export interface BuiltApp {
  readonly html: string;
  readonly assets: ReadonlyMap<string, Uint8Array>;
}

/**
 * Builds the console. The same sources give the same bytes.
 * @param icon the link to the icon of all pages
 * @param words the prose of the verifier, whose parts draw receipts in the console too
 */
export async function buildConsole(icon: string, words: object): Promise<BuiltApp> {
  const assets = await bundleAssets({ console: 'console/main.tsx', style: 'console/styles/main.css' }, [
    wordsInScript(words),
    plotsInEnglish,
  ]);
  assets.set(...(await licenses()));
  const first = await bundleFirst();
  const parts: Record<string, string> = {
    csp: policyOf(first),
    icon,
    first,
    font: assetNamed(assets, /^inter-latin-.*\.woff2$/),
    licenses: assetNamed(assets, /^licenses-.*\.txt$/),
    style: assetNamed(assets, /^style-.*\.css$/),
    script: assetNamed(assets, /^console-.*\.js$/),
  };
  const page = await readFile(new URL('page.html', source), 'utf8');
  const html = page.replaceAll(/\{\{(\w+)\}\}/g, (place, part: string) => parts[part] ?? place);
  return { html, assets };
}

/** The verifier's prose stands in its page as data. In the console it is in the script that is loaded with a receipt. */
const wordsInScript = (words: object): Plugin => ({
  name: 'words-in-script',
  setup(build) {
    build.onLoad({ filter: /[\\/]src[\\/]words\.ts$/ }, async ({ path }) => ({
      contents: await changed(path, "dataOf('words')", JSON.stringify(words)),
      loader: 'ts',
    }));
  },
});

/**
 * uPlot asks for the language of the browser when it is loaded, and throws where Intl does not know it, such as `en-US@posix` of a
 * browser in the C locale. The console is in English.
 */
const plotsInEnglish: Plugin = {
  name: 'plots-in-english',
  setup(build) {
    build.onLoad({ filter: /[\\/]uPlot\.esm\.js$/ }, async ({ path }) => ({
      contents: await changed(path, "domEnv ? nav.language : 'en-US'", "'en'"),
    }));
  },
};

/** Libraries and type faces in the pages, whose licences ask to be kept with them. */
const OF_OTHERS = [
  'preact',
  '@preact/signals',
  'uplot',
  '@fontsource-variable/inter',
  '@fontsource/ibm-plex-mono',
  'qr',
];

async function licenses(): Promise<[file: string, contents: Uint8Array]> {
  const texts = await Promise.all(
    OF_OTHERS.map(async (name) => {
      const folder = new URL(`../../../node_modules/${name}/`, import.meta.url);
      const file = name === 'qr' ? 'LICENSE-MIT' : 'LICENSE';
      return `${name}\n\n${(await readFile(new URL(file, folder), 'utf8')).trim()}\n`;
    }),
  );
  return hashedAsset('licenses', 'txt', Buffer.from(texts.join('\n---\n\n')));
}

/** Everything is this service's own; no script or style stands in the page but the first one. */
function policyOf(first: string): string {
  return [
    "default-src 'none'",
    `script-src 'self' '${digestOf(first)}'`,
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}
