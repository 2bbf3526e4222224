import { hash } from 'node:crypto';
import { type Html, html, trusted } from './html.ts';
import { style } from './style.ts';

const NOTCHES = 'M5 3v18M10 3v18M15 3v18M20 3v18M2 17 23 7';

const LOGO = trusted(
  `<svg viewBox="0 0 25 24" width="25" height="24" aria-hidden="true"><path d="${NOTCHES}" fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round"/></svg>`,
);

const ICON = `data:image/svg+xml,${encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 25 24"><path d="${NOTCHES}" fill="none" stroke="#b4472e" stroke-width="2.6" stroke-linecap="round"/></svg>`,
)}`;

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
  /** Where the reader is among the pages of the header. */
  readonly current: '/docs' | '/docs/errors';
  readonly nav: Html;
  readonly main: Html;
}

/** A whole document that stands alone: no script, no font, no image from anywhere. */
export function renderPage({ title, description, current, nav, main }: PageParts): string {
  const link = (href: PageParts['current'], text: string): Html =>
    href === current
      ? html`<a href="${href}" aria-current="page">${text}</a>`
      : html`<a href="${href}">${text}</a>`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${description}">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${ICON}">
<style>${trusted(style)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top">
<a class="brand" href="/docs">${LOGO}<span>Tallystick</span></a>
<nav class="pages" aria-label="Pages">${link('/docs', 'Reference')}${link('/docs/errors', 'Errors')}<a href="/openapi.json">OpenAPI</a><a href="/benchmark">Benchmark</a><a href="/verify">Verify</a></nav>
</header>
<div class="frame">
<nav class="side" aria-label="Contents">${nav}</nav>
<main id="main" tabindex="-1">${main}</main>
</div>
</body>
</html>
`.markup;
}
