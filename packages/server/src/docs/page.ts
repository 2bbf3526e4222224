import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { TallyError } from '@tallystick/core';
import { type Html, html, trusted } from './html.ts';
import { style as ownStyle } from './style.ts';

/** The shared parts of pages that the web package builds, so that all pages have the same header. */
function built(file: string): string {
  try {
    return readFileSync(new URL(file, import.meta.resolve('@tallystick/web/verify.html')), 'utf8');
  } catch (cause) {
    throw new TallyError('unavailable', 'The pages are not built: run npm run build:web, or npm start.', {
      cause,
    });
  }
}

const icon = trusted(built('icon.html'));
const header = built('header.html');
const style = built('header.css') + ownStyle;

/** The page's one style sheet is allowed by its hash; nothing else is loaded, run, framed or posted. */
export const pageHeaders: Readonly<Record<string, string>> = {
  'cache-control': 'public, max-age=300',
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${hash('sha256', style, 'base64')}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
};

export interface PageParts {
  readonly title: string;
  readonly description: string;
  /** The reader's place in the header's navigation. */
  readonly current: '/docs' | '/docs/errors';
  readonly nav: Html;
  readonly main: Html;
}

/** A complete document without scripts, fonts or images from elsewhere. */
export function renderPage({ title, description, current, nav, main }: PageParts): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${description}">
<meta name="color-scheme" content="light dark">
${icon}
<style>${trusted(style)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
${trusted(headerFor(current))}
<div class="frame">
<nav class="side" aria-label="Contents" tabindex="0">${nav}</nav>
<main id="main" tabindex="-1">${main}</main>
</div>
</body>
</html>
`.markup;
}

/** The reference and the errors page share one entry of the header. */
function headerFor(current: PageParts['current']): string {
  const mark = current === '/docs' ? 'page' : 'true';
  return header.replace('<a href="/docs"', `<a href="/docs" aria-current="${mark}"`);
}
