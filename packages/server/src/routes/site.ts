import { readFileSync } from 'node:fs';
import { z } from '@hono/zod-openapi';
import { TallyError } from '@tallystick/core';
import { type Answer, text } from '../http/answer.ts';
import type { Api } from '../http/api.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { OpenApiDocument } from '../http/openapi.ts';
import type { Services } from '../services.ts';

interface SiteServices extends Pick<Services, 'clock'> {
  readonly config: Pick<Services['config'], 'siteUrl' | 'receiptsUrl' | 'apiUrl' | 'securityContacts'>;
  readonly api: Pick<Api, 'document'>;
}

const GROUP = 'Operations';
const DAY = 86_400_000;

/** What programs look for at fixed addresses of a site: icons, and files of text about it. */
export function siteRoutes(services: SiteServices): Endpoint[] {
  return [
    picture('favicon.ico', 'image/x-icon', 'Icon', 'The site’s icon for programs that take no SVG.'),
    picture('favicon.svg', 'image/svg+xml', 'Svg', 'The site’s icon.'),
    picture('social.png', 'image/png', 'Social', 'The picture that is shown beside links to the pages.'),
    robots(services),
    sitemap(services),
    llms(services),
    security(services),
  ];
}

function picture(file: string, contentType: string, name: string, summary: string): Endpoint {
  let answer: Answer | undefined;
  return endpoint({
    method: 'get',
    path: `/${file}`,
    operationId: `get${name}Picture`,
    group: GROUP,
    summary,
    availability: 'live',
    answers: { 200: { description: 'The picture', schema: z.string(), contentType } },
    handle: () => {
      answer ??= {
        status: 200,
        body: new Uint8Array(readFileSync(new URL(file, import.meta.resolve('@tallystick/web/verify.html')))),
        contentType,
        headers: { 'cache-control': 'public, max-age=86400' },
      };
      return answer;
    },
  });
}

function robots({ config }: SiteServices): Endpoint {
  const body = `User-agent: *\nDisallow: /v1/\nDisallow: /tenants/\nAllow: /\n\nSitemap: ${config.siteUrl}/sitemap.xml\n`;
  return endpoint({
    method: 'get',
    path: '/robots.txt',
    operationId: 'getRobots',
    group: GROUP,
    summary: 'Read what crawlers may visit',
    description: 'The pages. Crawlers are asked to leave out the API (RFC 9309).',
    availability: 'live',
    answers: { 200: { description: 'The rules', schema: z.string(), contentType: 'text/plain' } },
    handle: () => plain(body),
  });
}

function sitemap({ config, api }: SiteServices): Endpoint {
  const made = once(() => {
    const urls = pagesOf(api.document()).map((path) => `<url><loc>${config.siteUrl}${path}</loc></url>`);
    return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls.join('\n')}\n</urlset>\n`;
  });
  return endpoint({
    method: 'get',
    path: '/sitemap.xml',
    operationId: 'getSitemap',
    group: GROUP,
    summary: 'Read the addresses of the pages',
    availability: 'live',
    answers: { 200: { description: 'The addresses', schema: z.string(), contentType: 'application/xml' } },
    handle: () => text(made(), 'application/xml', { headers: CACHED }),
  });
}

/** Paths that answer with a page, without those that depend on an id. */
function pagesOf({ paths }: OpenApiDocument): string[] {
  type Described = { get?: { responses: Record<string, { content?: object }> } };
  return Object.entries((paths ?? {}) as Record<string, Described>).flatMap(([path, { get }]) => {
    const isPage = Object.keys(get?.responses['200']?.content ?? {}).includes('text/html');
    return isPage && !path.includes('{') ? [path] : [];
  });
}

function llms({ config }: SiteServices): Endpoint {
  const body = describedForModels(config);
  return endpoint({
    method: 'get',
    path: '/llms.txt',
    operationId: 'getLlmsText',
    group: GROUP,
    summary: 'Read what the service is, for language models',
    description: 'Markdown with the addresses that matter to a program (llmstxt.org).',
    availability: 'live',
    answers: { 200: { description: 'The text', schema: z.string(), contentType: 'text/plain' } },
    handle: () => plain(body),
  });
}

function describedForModels({ siteUrl, receiptsUrl, apiUrl }: SiteServices['config']): string {
  return `# Tallystick

> Signed receipts for AI calls and machine work that anyone can check, offline, years later. A receipt holds the hash of what was
> asked, done or answered, never the text. It can be anchored in an append-only log whose root is posted to a public chain. An
> inference router with the interface of OpenAI's and Anthropic's APIs issues a receipt for each call.

Minting a free receipt and verifying one need no account and no key. Errors are problem documents (RFC 9457) with a stable \`code\`.

## API

- [OpenAPI document](${receiptsUrl}/openapi.json): every operation, with schemas and examples
- [Error codes](${siteUrl}/docs/errors): every code, and what to do about it
- [Prices](${receiptsUrl}/pricing): JSON
- [Models](${apiUrl}/v1/compute/models): JSON, with prices per million tokens
- [Trust bundle](${receiptsUrl}/.well-known/trust.json): the keys that receipts are verified with

## Common requests

- Mint a receipt: \`POST ${receiptsUrl}/v1/receipt/free\` with \`{"input": "…", "purpose": "…"}\`
- Verify a receipt: \`POST ${receiptsUrl}/v1/receipt/verify\` with the receipt as the body
- Ask a model with an OpenAI client: base URL \`${apiUrl}/v1/compute\`
- Use it as tools: an MCP server (streamable HTTP) at \`${apiUrl}/mcp\`

## Pages

- [Reference](${siteUrl}/docs): the API, with requests to send from the page
- [Verify a receipt](${siteUrl}/verify): one file that also works offline
- [Anchor log](${siteUrl}/log): its checkpoint, and every root that was posted
- [Benchmark](${siteUrl}/benchmark): what prompt compression keeps, measured and signed
- [Status](${siteUrl}/status): the state of each endpoint
`;
}

/** Days for which the file counts from the beginning of the day on which it is read. RFC 9116 advises less than a year. */
const SECURITY_DAYS = 180;

function security({ config, clock }: SiteServices): Endpoint {
  return endpoint({
    method: 'get',
    path: '/.well-known/security.txt',
    operationId: 'getSecurityText',
    group: GROUP,
    summary: 'Read where to report a vulnerability',
    description: 'The contacts that the operator configured (RFC 9116).',
    availability: 'live',
    answers: { 200: { description: 'The contacts', schema: z.string(), contentType: 'text/plain' } },
    errors: ['not_found'],
    handle: () => {
      const { securityContacts: contacts, siteUrl } = config;
      if (contacts.length === 0) throw new TallyError('not_found', 'This service names no security contact.');
      const today = Math.floor(clock() / DAY) * DAY;
      const lines = [
        ...contacts.map((contact) => `Contact: ${contact}`),
        `Expires: ${new Date(today + SECURITY_DAYS * DAY).toISOString()}`,
        'Preferred-Languages: en',
        `Canonical: ${siteUrl}/.well-known/security.txt`,
      ];
      return plain(`${lines.join('\n')}\n`);
    },
  });
}

const CACHED = { 'cache-control': 'public, max-age=3600' };

const plain = (body: string): Answer => text(body, 'text/plain; charset=utf-8', { headers: CACHED });

/** Keeps the first result. It is called only after all endpoints are mounted. */
function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
