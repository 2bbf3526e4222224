import { readFile } from 'node:fs/promises';
import { assetNamed, bundleAssets, bundleFirst, digestOf, hashedAsset, replaceOnce } from './bundle.ts';
import type { BuiltApp } from './console.ts';

const source = new URL('../src/reference/', import.meta.url);
const scalar = new URL(
  '../../../node_modules/@scalar/api-reference/dist/browser/standalone.js',
  import.meta.url,
);

/** What every page has. */
interface SharedParts {
  readonly icon: string;
  readonly header: string;
}

/** Builds the API reference: Scalar over `/openapi.json`, under the header of the other pages. */
export async function buildReference(shared: SharedParts): Promise<BuiltApp> {
  const assets = await bundleAssets({ reference: 'reference/main.ts', docs: 'reference/style.css' });
  const library = await readFile(scalar, 'utf8');
  assets.set(...hashedAsset('scalar', 'js', Buffer.from(withLanguages(library))));
  assets.set(...hashedAsset('scalar', 'txt', await readFile(new URL('scalar-license.txt', source))));
  const first = await bundleFirst();
  const parts: Record<string, string> = {
    ...shared,
    csp: policyOf(first),
    first,
    licenses: assetNamed(assets, /^scalar-.*\.txt$/),
    style: assetNamed(assets, /^docs-.*\.css$/),
    library: assetNamed(assets, /^scalar-.*\.js$/),
    script: assetNamed(assets, /^reference-.*\.js$/),
  };
  const page = await readFile(new URL('page.html', source), 'utf8');
  const html = page.replaceAll(/\{\{(\w+)\}\}/g, (place, part: string) => parts[part] ?? place);
  return { html, assets };
}

/** The languages that Scalar shows first are fixed in it. What it writes for `fetch` is TypeScript too. */
function withLanguages(library: string): string {
  const featured = replaceOnce(
    library,
    '[`shell/curl`,`ruby/native`,`node/undici`,`php/guzzle`,`python/python3`]',
    '[`shell/curl`,`python/requests`,`js/fetch`]',
  );
  return replaceOnce(featured, 'key:`js`,title:`JavaScript`', 'key:`js`,title:`TypeScript`');
}

/**
 * Scripts are only the service's own files. Scalar writes its style sheets into the page and sets `style` attributes, some of
 * which depend on what is shown, so styles can't be named by their digests; they can load nothing from elsewhere.
 */
function policyOf(first: string): string {
  return [
    "default-src 'none'",
    `script-src 'self' '${digestOf(first)}'`,
    "style-src 'self' 'unsafe-inline'",
    "font-src 'self'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}
