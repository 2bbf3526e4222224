import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from '@hono/zod-openapi';
import type { Answer } from '../http/answer.ts';
import { matches } from '../http/conditional.ts';
import { header } from '../http/context.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Services } from '../services.ts';
import { COMPUTE } from './compute-shapes.ts';

type PageServices = {
  readonly config: Pick<Services['config'], 'siteUrl'>;
  readonly trust: Pick<Services['trust'], 'bundle'>;
};

/** Pages for people (specification 1.8). */
export function pageRoutes(services: PageServices): Endpoint[] {
  return [
    page(services, {
      path: '/verify',
      file: 'verify.html',
      group: 'Verify',
      summary: 'The verifier page',
      description:
        'Checks receipts in the browser and sends nothing: its content security policy forbids it. One file that also works saved to disk. The newest trust bundle is in it as data.',
    }),
    page(services, {
      path: '/benchmark',
      file: 'benchmark.html',
      group: COMPUTE,
      summary: 'The benchmark page',
      description:
        'Draws what `/v1/compute/benchmark` and its nodes say, after checking their signatures in the browser. It asks this service and nobody else. The newest trust bundle is in it as data.',
    }),
  ];
}

interface PageDefinition {
  readonly path: string;
  /** In the web package. */
  readonly file: string;
  readonly group: string;
  readonly summary: string;
  readonly description: string;
}

/** The one place in a page that is filled when it is served. It is data: the script's hash doesn't cover it. */
const SITE_TRUST = '<script type="application/json" id="site-trust">null</script>';

function page({ config, trust }: PageServices, { file, ...definition }: PageDefinition): Endpoint {
  const built = readFileSync(new URL(file, import.meta.resolve('@tallystick/web/verify.html')), 'utf8');
  const policy = policyOf(built);
  let served: { readonly bundle: string | null; readonly html: string; readonly etag: string } | undefined;

  /** The page with the newest bundle in it, made once for each bundle. */
  const current = () => {
    const bundle = trust.bundle()?.text ?? null;
    if (served?.bundle !== bundle) served = undefined;
    if (served === undefined) {
      const html = withTrust(built, config.siteUrl, bundle);
      served = { bundle, html, etag: `"${createHash('sha256').update(html).digest('base64url')}"` };
    }
    return served;
  };

  return endpoint({
    ...definition,
    method: 'get',
    availability: 'live',
    headers: { 'If-None-Match': 'An `ETag` had before: 304 when the page is still the same.' },
    answers: {
      200: {
        description: 'The page',
        schema: z.string(),
        contentType: 'text/html',
        headers: { ETag: 'Changes with the page and with the trust bundle.' },
      },
      304: { description: 'Not changed' },
    },
    handle({ c }): Answer {
      const { html, etag } = current();
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
    },
  });
}

/** The policy that the page states of itself, so that a saved copy has the same one. */
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
