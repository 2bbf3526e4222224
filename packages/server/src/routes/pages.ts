import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from '@hono/zod-openapi';
import { utf8, VERSION } from '@tallystick/core';
import { type Answer, json } from '../http/answer.ts';
import { matches } from '../http/conditional.ts';
import { type AppContext, header } from '../http/context.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Services } from '../services.ts';
import { COMPUTE } from './compute-shapes.ts';

type PageServices = {
  readonly config: Pick<Services['config'], 'siteUrl' | 'receiptsUrl' | 'apiUrl'>;
  readonly trust: Pick<Services['trust'], 'bundle'>;
};

/** Pages for people (specification 1.8). */
export function pageRoutes(services: PageServices): Endpoint[] {
  return [
    landing(services),
    page(services, {
      path: '/verify',
      operationId: 'getVerifyPage',
      file: 'verify.html',
      group: 'Verify',
      summary: 'The verifier page',
      description:
        'Checks receipts in the browser and sends nothing: its content security policy forbids it. The page is one file that also works when saved to disk, and contains the newest trust bundle.',
    }),
    page(services, {
      path: '/benchmark',
      operationId: 'getBenchmarkPage',
      file: 'benchmark.html',
      group: COMPUTE,
      summary: 'The benchmark page',
      description:
        'Shows the results of `/v1/compute/benchmark` and its nodes after checking their signatures in the browser. It calls no other service. The page contains the newest trust bundle.',
    }),
    page(services, {
      path: '/evidence',
      operationId: 'getEvidencePage',
      file: 'evidence.html',
      group: 'Verify',
      summary: 'The page that checks an evidence bundle',
      description:
        'Checks a bundle of receipts, file by file, in the browser, and sends nothing: its content security policy forbids it. Each bundle contains this page.',
    }),
    page(services, {
      path: '/docs/errors',
      operationId: 'getErrorReference',
      file: 'errors.html',
      group: 'Operations',
      summary: 'Read the list of error codes',
      description: 'The `type` of a problem document links to its code on this page.',
    }),
  ];
}

interface PageDefinition {
  readonly path: string;
  readonly operationId: string;
  /** File name in the web package. */
  readonly file: string;
  readonly group: string;
  readonly summary: string;
  readonly description: string;
}

/** The only part of a page that is filled in when it is served. It is data, so the script's hash does not cover it. */
const SITE_TRUST = '<script type="application/json" id="site-trust">null</script>';

/** Programs that show a link's picture take only a whole address. */
const PICTURE_START = '<meta property="og:image" content="';
const PICTURE = `${PICTURE_START}/`;

interface Served {
  readonly bundle: string | null;
  /** UTF-8. */
  readonly html: Uint8Array<ArrayBuffer>;
  readonly etag: string;
  readonly policy: string;
}

const PAGE_ANSWERS = {
  200: {
    description: 'The page',
    schema: z.string(),
    contentType: 'text/html',
    headers: { ETag: 'Changes when the page or the trust bundle changes.' },
  },
  304: { description: 'Not changed' },
};
const PAGE_HEADERS = {
  'If-None-Match': 'An `ETag` received earlier: the answer is 304 if the page has not changed.',
};

function page(services: PageServices, { file, ...definition }: PageDefinition): Endpoint {
  const answer = pageAnswer(services, file);
  return endpoint({
    ...definition,
    method: 'get',
    availability: 'live',
    headers: PAGE_HEADERS,
    answers: PAGE_ANSWERS,
    handle: ({ c }) => answer(c),
  });
}

const serviceSchema = z
  .object({
    service: z.string().openapi({ description: 'The name of the service.' }),
    version: z.string().openapi({ description: 'The version of the software.' }),
    description: z.string().openapi({ description: 'What it is, in words.' }),
    endpoints: z.record(z.string(), z.string()).openapi({ description: 'Addresses, by name.' }),
  })
  .openapi('Service', { description: 'Where everything is, for programs.' });

/** The landing page for people; for programs, a description of the service. */
function landing(services: PageServices): Endpoint {
  const answer = pageAnswer(services, 'landing.html');
  const descriptor = describeService(services.config);
  return endpoint({
    method: 'get',
    path: '/',
    operationId: 'getLandingPage',
    group: 'Operations',
    summary: 'The landing page, or the service’s addresses',
    description:
      'A client whose `Accept` names `application/json` and not `text/html` gets a JSON object with the service’s addresses. Every other client gets the landing page, where a receipt can be minted and verified.',
    availability: 'live',
    headers: { ...PAGE_HEADERS, Accept: '`application/json` for the addresses.' },
    answers: {
      ...PAGE_ANSWERS,
      200: { ...PAGE_ANSWERS[200], otherwise: { 'application/json': serviceSchema } },
    },
    handle({ c, headers }) {
      headers['vary'] = 'Accept';
      return wantsJson(header(c, 'accept')) ? json(descriptor) : answer(c);
    },
  });
}

function describeService({ siteUrl, receiptsUrl, apiUrl }: PageServices['config']) {
  return {
    service: 'tallystick',
    version: VERSION,
    description: 'Signed receipts for AI calls and machine work that anyone can check, offline, years later.',
    endpoints: {
      openapi: `${receiptsUrl}/openapi.json`,
      docs: `${receiptsUrl}/docs`,
      trust: `${receiptsUrl}/.well-known/trust.json`,
      mint: `${receiptsUrl}/v1/receipt/free`,
      verify: `${receiptsUrl}/v1/receipts/verify`,
      verifier_page: `${siteUrl}/verify`,
      pricing: `${receiptsUrl}/pricing`,
      log: `${apiUrl}/v1/log`,
      compute: `${apiUrl}/v1/compute`,
      mcp: `${apiUrl}/mcp`,
    },
  };
}

function wantsJson(accept = ''): boolean {
  const types = new Set(accept.split(',').map((range) => range.split(';')[0]?.trim().toLowerCase()));
  return types.has('application/json') && !types.has('text/html');
}

/** Answers with a built page. It is read at the first request, and again with each new bundle. */
function pageAnswer({ config, trust }: PageServices, file: string): (c: AppContext) => Answer {
  let served: Served | undefined;
  const current = (): Served => {
    const bundle = trust.bundle()?.text ?? null;
    if (served?.bundle === bundle) return served;
    const built = readFileSync(new URL(file, import.meta.resolve('@tallystick/web/verify.html')), 'utf8');
    const page = withTrust(built, config.siteUrl, bundle).replace(
      PICTURE,
      `${PICTURE_START}${config.siteUrl}/`,
    );
    const html = new Uint8Array(utf8(page));
    const etag = `"${createHash('sha256').update(html).digest('base64url')}"`;
    // A match is a view of the page, which a copy lets go.
    served = { bundle, html, etag, policy: Buffer.from(policyOf(built)).toString() };
    return served;
  };
  return (c) => {
    const { html, etag, policy } = current();
    const headers = {
      etag,
      'cache-control': 'no-cache',
      'content-security-policy': policy,
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
    };
    if (matches(header(c, 'if-none-match'), etag))
      return { status: 304, body: null, contentType: null, headers };
    return { status: 200, body: html, contentType: 'text/html; charset=utf-8', headers };
  };
}

/** The policy in the page's own meta element, so that a saved copy has the same one. */
function policyOf(page: string): string {
  const policy = /<meta http-equiv="Content-Security-Policy" content="([^"]+)">/.exec(page)?.[1];
  if (policy === undefined) throw new Error('The page states no content security policy.');
  return policy;
}

function withTrust(page: string, site: string, bundle: string | null): string {
  if (!page.includes(SITE_TRUST)) throw new Error('The page has no place for a trust bundle.');
  if (bundle === null) return page;
  const data = `{"site":${JSON.stringify(site)},"bundle":${bundle}}`.replaceAll('<', '\\u003c');
  return page.replace(SITE_TRUST, () => SITE_TRUST.replace('null', () => data));
}
