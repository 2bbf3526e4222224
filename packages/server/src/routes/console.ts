import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { z } from '@hono/zod-openapi';
import { TallyError } from '@tallystick/core';
import type { Answer } from '../http/answer.ts';
import { matches } from '../http/conditional.ts';
import { type AppContext, header } from '../http/context.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { COMPUTE } from './compute-shapes.ts';

/** The console: one page that its script fills by the address, and the files that it loads. */
export function consoleRoutes(): Endpoint[] {
  return [
    consolePage({
      path: '/activity',
      operationId: 'getActivityPage',
      group: COMPUTE,
      summary: 'The console’s page of calls',
      description:
        'Lists calls with what they cost and their receipts, after signing in. Keys stay in the page’s memory and go only into the headers of requests to this service.',
    }),
    consolePage({
      path: '/activity/{id}',
      operationId: 'getCallPage',
      group: COMPUTE,
      summary: 'The console’s page of one call',
      description:
        'Shows one of the reader’s calls, after signing in: its steps in time, why it was sent where it went, its bill, and its receipt, which is verified in the page.',
      params: z.object({ id: z.string().openapi({ description: 'The id of the call.' }) }),
    }),
    consolePage({
      path: '/sessions',
      operationId: 'getSessionsPage',
      group: SESSIONS,
      summary: 'The console’s page of sessions',
      description: 'Lists the sessions of the reader’s newest calls, after signing in.',
    }),
    consolePage({
      path: '/sessions/{id}',
      operationId: 'getSessionPage',
      group: SESSIONS,
      summary: 'The console’s page of one session',
      description:
        'Shows the calls and the tool calls of one of the reader’s sessions in their order, after signing in, with the verdict on its signed record.',
      params: z.object({ id: z.string().openapi({ description: 'The id of the session.' }) }),
    }),
    consolePage({
      path: '/receipts',
      operationId: 'getReceiptsPage',
      group: 'Receipts',
      summary: 'The console’s page of receipts',
      description:
        'Lists the receipts of whoever is signed in. It looks any receipt up by the id that follows the `#` of its address, verifies it in the browser, and shows where it is anchored.',
    }),
    consolePage({
      path: '/log',
      operationId: 'getLogPage',
      group: 'Log',
      summary: 'The console’s page of the log',
      description:
        'Shows the newest checkpoint, the hashes and the postings, and checks signatures, inclusion and consistency in the browser.',
    }),
    consolePage({
      path: '/evidence/build',
      operationId: 'getEvidenceBuildPage',
      group: 'Tenants',
      summary: 'The console’s page that builds evidence bundles',
      description:
        'Exports a tenant’s evidence room for a period with the tenant’s key, saves it as it streams, and verifies it.',
    }),
    consolePage({
      path: '/operator',
      operationId: 'getOperatorPage',
      group: 'Operator',
      summary: 'The console’s page of the operator',
      description:
        'Shows how the whole service is and rests and resumes models, after signing in with an operator key.',
    }),
    reference(),
    consolePage({
      path: '/keys',
      operationId: 'getKeysPage',
      group: 'Keys',
      summary: 'The console’s page of keys and budgets',
      description:
        'Lists the API keys of an account with what they spent; makes, limits, rotates and revokes them.',
    }),
    consolePage({
      path: '/webhooks',
      operationId: 'getWebhooksPage',
      group: 'Webhooks',
      summary: 'The console’s page of webhooks',
      description: 'Lists webhooks and their deliveries; makes, tests, pauses and deletes them.',
    }),
    consolePage({
      path: '/balance',
      operationId: 'getBalancePage',
      group: 'Balance',
      summary: 'The console’s page of the balance',
      description: 'Shows the balance, its statement and the usage by day and model, and how to top up.',
    }),
    consolePage({
      path: '/members',
      operationId: 'getMembersPage',
      group: COMPUTE,
      summary: 'The console’s page of members',
      description: 'Shows `/v1/compute/member/leaderboard`, and registers a DID.',
    }),
    moved({ path: '/usage', operationId: 'getUsagePage', to: '/activity' }),
    moved({ path: '/leaderboard', operationId: 'getLeaderboardPage', to: '/members' }),
    asset(),
  ];
}

/** Group name under which the reference lists the pages of sessions. */
const SESSIONS = 'Sessions';

interface ConsolePageDefinition {
  readonly path: string;
  readonly operationId: string;
  readonly group: string;
  readonly summary: string;
  readonly description: string;
  readonly params?: z.ZodObject<{ id: z.ZodString }>;
}

const CONDITIONAL = {
  'If-None-Match': 'An `ETag` received earlier: the answer is 304 if nothing has changed.',
};

function reference(): Endpoint {
  return appPage('docs', {
    path: '/docs',
    operationId: 'getReference',
    group: 'Operations',
    summary: 'Read the API reference',
    description:
      'Shows `/openapi.json` with request bodies and code in several languages, and sends requests to this service from the page.',
  });
}

const consolePage = (definition: ConsolePageDefinition): Endpoint => appPage('page', definition);

function appPage(page: 'page' | 'docs', definition: ConsolePageDefinition): Endpoint {
  return endpoint({
    ...definition,
    method: 'get',
    availability: 'live',
    headers: CONDITIONAL,
    answers: {
      200: {
        description: 'The page',
        schema: z.string(),
        contentType: 'text/html',
        headers: { ETag: 'Changes when the page changes.' },
      },
      304: { description: 'Not changed' },
    },
    handle: ({ c }) => conditional(c, built()[page]),
  });
}

/** An address of an earlier release. */
function moved({
  to,
  ...place
}: Pick<ConsolePageDefinition, 'path' | 'operationId'> & { readonly to: string }): Endpoint {
  return endpoint({
    ...place,
    method: 'get',
    group: COMPUTE,
    summary: `Redirect to ${to}`,
    availability: 'live',
    answers: { 308: { description: 'The page has moved', headers: { Location: 'Where the page is.' } } },
    handle: () => ({ status: 308, body: null, contentType: null, headers: { location: to } }),
  });
}

function asset(): Endpoint {
  return endpoint({
    method: 'get',
    path: '/assets/{file}',
    operationId: 'getAsset',
    group: 'Operations',
    summary: 'Read a file that a page loads',
    description:
      'A script, a style sheet or a type face. Its name holds the hash of its contents, so it never changes.',
    availability: 'live',
    params: z.strictObject({
      file: z
        .string()
        .openapi({ description: 'The name, as a page gives it.', example: 'style-2B4C6D8F.css' }),
    }),
    headers: {
      ...CONDITIONAL,
      'Accept-Encoding': 'With `gzip`, scripts and style sheets are sent as they are stored.',
    },
    answers: {
      200: {
        description: 'The file, with the media type of its ending',
        schema: z.string(),
        contentType: '*/*',
        headers: {
          ETag: 'The hash of the file.',
          'Cache-Control': '`immutable`: it may be kept for a year.',
        },
      },
      304: { description: 'Not changed' },
    },
    errors: ['not_found'],
    handle: ({ c, params: { file } }) => {
      const found = built().assets.get(file);
      if (found === undefined)
        throw new TallyError('not_found', `There is no file ${file}. Load the page again.`);
      return conditional(c, takesGzip(c) ? found : unzipped(found));
    },
  });
}

/** The console’s page, at an address that answers programs with something else. */
export function consoleAnswer(c: AppContext): Answer {
  return conditional(c, built().page);
}

/** The console’s page for an address where nothing is, for readers. It says so itself. */
export function notFoundPage(): Answer {
  return { ...built().page, status: 404 };
}

interface Held extends Answer {
  readonly body: Uint8Array<ArrayBuffer>;
  /** The tag is weak: it is the same whether the file is sent gzipped or not. */
  readonly headers: Readonly<Record<string, string>> & { readonly etag: string };
}

interface Built {
  readonly page: Held;
  readonly docs: Held;
  readonly assets: ReadonlyMap<string, Held>;
}

let held: Built | undefined;

/** What the web package built, read at the first request. */
function built(): Built {
  held ??= { page: readPage('console.html'), docs: readPage('docs.html'), assets: readAssets() };
  return held;
}

const BUILT = import.meta.resolve('@tallystick/web/console.html');

function readPage(file: string): Held {
  const html = readFileSync(new URL(file, BUILT));
  const policy = /<meta http-equiv="Content-Security-Policy" content="([^"]+)">/.exec(html.toString())?.[1];
  if (policy === undefined) throw new Error(`${file} states no content security policy.`);
  return holding(html, 'text/html; charset=utf-8', {
    'cache-control': 'no-cache',
    'content-security-policy': `${policy}; frame-ancestors 'none'`,
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
    vary: 'Accept',
  });
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
};

/** The files of all pages. Those of text are stored gzipped. */
function readAssets(): Map<string, Held> {
  const folder = new URL('assets/', BUILT);
  return new Map(
    readdirSync(folder).flatMap((stored) => {
      const file = stored.replace(/\.gz$/, '');
      const type = TYPES[extname(file)];
      if (type === undefined) return [];
      const headers = {
        'cache-control': 'public, max-age=31536000, immutable',
        vary: 'Accept-Encoding',
        ...(file === stored ? {} : { 'content-encoding': 'gzip' }),
      };
      return [[file, holding(readFileSync(new URL(stored, folder)), type, headers)]];
    }),
  );
}

function takesGzip(c: AppContext): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(header(c, 'accept-encoding') ?? '');
}

/** For the few clients that take no gzip. */
function unzipped(answer: Held): Held {
  const { 'content-encoding': encoding, ...headers } = answer.headers;
  if (encoding === undefined) return answer;
  return { ...answer, headers, body: new Uint8Array(gunzipSync(answer.body)) };
}

function holding(bytes: Buffer, contentType: string, headers: Readonly<Record<string, string>>): Held {
  const etag = `W/"${createHash('sha256').update(bytes).digest('base64url')}"`;
  return { status: 200, body: new Uint8Array(bytes), contentType, headers: { ...headers, etag } };
}

function conditional(c: AppContext, answer: Held): Answer {
  if (!matches(header(c, 'if-none-match'), answer.headers.etag)) return answer;
  return { ...answer, status: 304, body: null, contentType: null };
}
