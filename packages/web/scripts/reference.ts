import { readFile } from 'node:fs/promises';
import { runInNewContext } from 'node:vm';
import { assetNamed, bundleAssets, bundleFirst, digestOf, hashedAsset, replaceOnce } from './bundle.ts';
import type { BuiltApp } from './console.ts';

const source = new URL('../src/reference/', import.meta.url);
/** Scalar's package for Fastify holds its script as a text, and `@scalar/api-reference`, which has it as a file, brings 260 packages. */
const scalar = new URL('../../../node_modules/@scalar/fastify-api-reference/dist/index.js', import.meta.url);

/** What every page has. */
interface SharedParts {
  readonly icon: string;
  readonly header: string;
}

/** Builds the API reference: Scalar over `/openapi.json`, under the header of the other pages. */
export async function buildReference(shared: SharedParts): Promise<BuiltApp> {
  const assets = await bundleAssets({ reference: 'reference/main.ts', docs: 'reference/style.css' });
  assets.set(...hashedAsset('scalar', 'js', Buffer.from(withLanguages(await scalarScript()))));
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

/** @throws Error where the package no longer holds the script as one text */
async function scalarScript(): Promise<string> {
  const text = /^var standalone_default = (".*");$/m.exec(await readFile(scalar, 'utf8'))?.[1];
  if (text === undefined) throw new Error(`${scalar.pathname} holds no script of the reference.`);
  return runInNewContext(text) as string;
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
