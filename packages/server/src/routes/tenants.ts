import { z } from '@hono/zod-openapi';
import {
  AGENT_HEADERS,
  consumeDaily,
  requireTenant,
  TENANT_ERRORS,
  TENANT_HEADERS,
} from '@tallystick/callers';
import { type JsonValue, parseTimestamp, TallyError } from '@tallystick/core';
import { type EmitRequest, issueTo, type RequestedPeriod, refuseUncarried } from '@tallystick/receipts';
import type { BegunExport, RoomExport } from '@tallystick/receipts/evidence';
import { type Answer, json, text } from '../http/answer.ts';
import { byteRange } from '../http/byte-range.ts';
import { header } from '../http/context.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Services } from '../services.ts';
import {
  MINT_ERRORS,
  MINT_HEADERS,
  type MintNeeds,
  RECEIPT_HEADERS,
  receiptAnswerOf,
} from './receipt-answer.ts';
import { profileReceiptSchema } from './receipt-shapes.ts';
import { EMIT_ERRORS, emitBody, emitting, profileOf, profileQuery } from './receipts.ts';
import { count, hexDigest, receiptIdText, timestamp } from './shapes.ts';

type Needs = MintNeeds & Pick<Services, 'trust' | 'mutex' | 'logger'>;

const GROUP = 'Tenants';
/** New exports of one tenant in a UTC day: each reads the whole evidence room. */
const EXPORTS_A_DAY = 100;
const LISTED = 1_000;

const params = z.object({
  id: z.string().openapi({ description: 'The id of the tenant.', example: 't_0123456789abcdef' }),
});

/** A tenant's receipts and its evidence room (specification 4.1). The key decides the tenant. */
export function tenantRoutes(services: Needs): Endpoint[] {
  return [emission(services), evidence(services), exports(services)];
}

/** Admits the key of the tenant in the path. @throws TENANT_ERRORS */
const ofPath =
  ({ callers }: Needs) =>
  async (call: Exchange & { readonly params: z.infer<typeof params> }) =>
    requireTenant(await callers.admit(call, 'tenantKey'), call.params.id);

function emission(services: Needs): Endpoint {
  const { callers } = services;
  return endpoint({
    method: 'post',
    path: '/tenants/{id}/receipts',
    operationId: 'emitTenantReceipt',
    credentials: ['tenantKey'],
    group: GROUP,
    summary: 'Emit a receipt for a tenant',
    description:
      'Works like `POST /v1/receipt/emit`, with a tenant key: every receipt is anchored, can be read only with a key of this tenant, and is kept in its evidence room.',
    availability: 'live',
    headers: {
      'Idempotency-Key': MINT_HEADERS['Idempotency-Key'],
      ...AGENT_HEADERS,
      ...TENANT_HEADERS,
    },
    params,
    query: profileQuery,
    body: emitBody,
    example: { payload: { order: 42, total: '19.90' }, purpose: 'order confirmation' },
    answers: { 200: { description: 'The receipt', schema: profileReceiptSchema, headers: RECEIPT_HEADERS } },
    errors: [...EMIT_ERRORS, ...TENANT_ERRORS, ...MINT_ERRORS],
    admit: ofPath(services),
    async handle(call) {
      const { body, query, admitted: credential } = call;
      const profile = profileOf(query.profile);
      refuseUncarried(profile, body as EmitRequest);
      const agent = await callers.agentOf(call);
      const issued = await issueTo(services, call, {
        claim: { route: '/tenants/{id}/receipts', profile, body: body as JsonValue },
        credential,
        anchor: true,
        priced: null,
        sign: emitting(services, { profile, agent, request: body as EmitRequest }),
      });
      return receiptAnswerOf(issued, profile);
    },
  });
}

const time = (what: string) =>
  z
    .string()
    .optional()
    .openapi({
      description: `${what} UTC: \`YYYY-MM-DD\` or \`YYYY-MM-DDThh:mm:ssZ\`.`,
      example: '2027-01-01',
    });

const manifestSchema = z
  .looseObject({})
  .openapi('EvidenceManifest', { description: 'The signed manifest of a bundle (spec/evidence.md).' });

function evidence(services: Needs): Endpoint {
  const { store, clock, mutex } = services;
  const quota = { name: 'evidence-exports', limit: EXPORTS_A_DAY, store };
  return endpoint({
    method: 'get',
    path: '/tenants/{id}/evidence',
    operationId: 'exportEvidence',
    credentials: ['tenantKey'],
    group: GROUP,
    summary: 'Export a tenant’s evidence room',
    description:
      'Streams `bundle.zip`: a signed manifest, the receipts of the period with their anchors, the keys and the trust bundle of that time, records of the receipts that have left the room, and the verifier (spec/evidence.md). The bundle is made while it is sent, so its size is not known before, and the manifest comes last. With `Accept: application/json` only the signed manifest is returned. A receipt stays in the room for 365 days, or for as long as its profile is kept. For a day, an interrupted export can be resumed with `Range: bytes=<n>-` and `If-Range: <ETag>`: the service goes on making it when its caller is gone. Each export gets a receipt once it is made; 100 exports may be started per UTC day. HEAD makes none.',
    availability: 'live',
    headers: {
      ...TENANT_HEADERS,
      Accept: '`application/json` for the signed manifest alone.',
      Range: 'With If-Range: the rest of an export, `bytes=<n>-`.',
      'If-Range': 'The `ETag` of the export to resume. Any other value starts a new export.',
    },
    params,
    query: z.strictObject({
      from: time('The first instant of the period; from the beginning when absent.'),
      to: time('The end of the period, exclusive; now when absent.'),
    }),
    answers: {
      200: {
        description: 'The bundle, or its manifest',
        schema: z.string().openapi({ format: 'binary' }),
        contentType: 'application/zip',
        otherwise: { 'application/json': manifestSchema },
        headers: {
          ETag: 'The name of the export, to resume it by.',
          'X-Receipt-Id':
            'The id of the receipt of the export, which covers the manifest’s hash; absent from a bundle that is made while it is sent: then `GET /tenants/{id}/evidence/exports` has it.',
        },
      },
      206: {
        description: 'The rest of the bundle',
        schema: z.string().openapi({ format: 'binary' }),
        contentType: 'application/zip',
      },
    },
    errors: [
      ...TENANT_ERRORS,
      'trust_unavailable',
      'anchor_unavailable',
      'rate_limited',
      'range_invalid',
      'unavailable',
    ],
    admit: ofPath(services),
    makes: true,
    async handle(call) {
      const { tenant } = call.admitted;
      const requestedPeriod = periodOf(call.query);
      const { findExport, beginExport, refuseEmptyPeriod } = await import('@tallystick/receipts/evidence');
      const etag = earlierExport(call);
      const asksManifest = /\bapplication\/json\b/.test(header(call.c, 'accept') ?? '');
      // One that its caller left is made to its end in its turn, so it may be found after waiting.
      const begun = await mutex(`evidence ${tenant}`, async () => {
        const earlier = etag === null ? null : await findExport(services, tenant, etag);
        if (earlier !== null) return { earlier };
        refuseEmptyPeriod(requestedPeriod, Math.floor(clock() / 1000));
        await consumeDaily(quota, tenant, call, clock());
        const started = await beginExport(services, tenant, requestedPeriod);
        return asksManifest ? { earlier: await madeOf(started.bytes) } : { started };
      });
      if (begun.earlier === undefined) return newBundle(services, tenant, begun.started);
      return asksManifest ? manifestAnswer(begun.earlier) : bundleAgain(services, call, begun.earlier);
    },
  });
}

const EXPORT_HEADERS = { 'cache-control': 'private, no-store', vary: 'Accept, Authorization' };

/** Makes an export to its end, for nobody to read. */
async function madeOf(bytes: BegunExport['bytes']): Promise<RoomExport> {
  for (;;) {
    const { done, value } = await bytes.next();
    if (done === true) return value;
  }
}

function manifestAnswer({ row, contents }: RoomExport): Answer {
  return text(contents.manifest, 'application/json', {
    headers: { ...EXPORT_HEADERS, 'x-receipt-id': row.receiptId, etag: `"${row.etag}-json"` },
  });
}

/** The bundle of a new export, which is made while it is sent. */
async function newBundle({ mutex, logger }: Needs, tenant: string, begun: BegunExport): Promise<Answer> {
  const { streamExport } = await import('@tallystick/receipts/evidence');
  const finish = (rest: BegunExport['bytes']): void =>
    void mutex(`evidence ${tenant}`, () => madeOf(rest)).catch((err: unknown) => {
      logger.warn({ tenant, err }, 'an export that its caller left was not made to its end');
    });
  return {
    status: 200,
    body: streamExport(begun, finish),
    contentType: 'application/zip',
    headers: bundleHeaders(tenant, begun.etag),
  };
}

function bundleHeaders(tenant: string, etag: string | null): Record<string, string> {
  return {
    ...EXPORT_HEADERS,
    etag: `"${etag}"`,
    'accept-ranges': 'bytes',
    'content-disposition': `attachment; filename="evidence-${tenant}.zip"`,
  };
}

/** The name of the export in an `If-Range` with a `Range`; null where no export is continued. */
function earlierExport({ c }: Pick<Exchange, 'c'>): string | null {
  if (header(c, 'range') === undefined) return null;
  return /^"([0-9a-f]{32})"$/.exec(header(c, 'if-range') ?? '')?.[1] ?? null;
}

/** The rest of the bundle of an earlier export, or all of it. */
async function bundleAgain(services: Needs, exchange: Exchange, made: RoomExport): Promise<Answer> {
  const { bytes: size, tenant, etag, receiptId } = made.row;
  const { streamBundle } = await import('@tallystick/receipts/evidence');
  const range = byteRange(header(exchange.c, 'range'), size, exchange);
  const { from, to } = range ?? { from: 0, to: size };
  return {
    status: range === null ? 200 : 206,
    body: streamBundle(services, made, { from, to }),
    contentType: 'application/zip',
    headers: {
      ...bundleHeaders(tenant, etag),
      'x-receipt-id': receiptId,
      'content-length': String(to - from),
      ...(range === null ? {} : { 'content-range': `bytes ${from}-${to - 1}/${size}` }),
    },
  };
}

/** @throws invalid_field */
function periodOf({ from, to }: { from?: string | undefined; to?: string | undefined }): RequestedPeriod {
  const period = { from: secondsOf('from', from), to: secondsOf('to', to) };
  if (period.from === null || period.to === null || period.from < period.to) return period;
  throw new TallyError(
    'invalid_field',
    'to must be after from: the period runs from the one up to the other.',
    {
      field: 'to',
    },
  );
}

function secondsOf(field: string, given: string | undefined): number | null {
  if (given === undefined) return null;
  const instant = parseTimestamp(/^\d{4}-\d\d-\d\d$/.test(given) ? `${given}T00:00:00Z` : given);
  if (instant !== null && instant.nanos === 0) return instant.seconds;
  throw new TallyError('invalid_field', `${field} must be YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ.`, { field });
}

const exportSchema = z
  .object({
    receipt_id: receiptIdText.openapi({ description: 'The receipt of the export.' }),
    exported_at: timestamp.openapi({ description: 'When it was made.' }),
    manifest_sha256: hexDigest.openapi({ description: 'The export that the receipt covers.' }),
    period: z
      .object({
        from: timestamp.openapi({ description: 'From this instant.' }),
        to: timestamp.openapi({ description: 'Up to this one, exclusive.' }),
      })
      .openapi({ description: 'When the receipts were issued.' }),
    receipts: count.openapi({ description: 'Number of receipts in it.' }),
    bytes: count.openapi({ description: 'Size of the bundle.' }),
  })
  .openapi('EvidenceExport', { description: 'An export of an evidence room.' });

function exports(services: Needs): Endpoint {
  const { store } = services;
  return endpoint({
    method: 'get',
    path: '/tenants/{id}/evidence/exports',
    operationId: 'listEvidenceExports',
    credentials: ['tenantKey'],
    group: GROUP,
    summary: 'List the exports of an evidence room',
    description:
      'Every export of the last 365 days with its receipt, the newest 1,000 of them, oldest first.',
    availability: 'live',
    headers: TENANT_HEADERS,
    params,
    answers: {
      200: {
        description: 'The exports',
        schema: z.object({ exports: z.array(exportSchema).openapi({ description: 'Oldest first.' }) }),
      },
    },
    errors: [...TENANT_ERRORS],
    admit: ofPath(services),
    async handle({ admitted: { tenant } }) {
      const { exportListing } = await import('@tallystick/receipts/evidence');
      const listed: ReturnType<typeof exportListing>[] = [];
      for await (const row of store.tenants.listExports(tenant)) listed.push(exportListing(row));
      return json(
        { exports: listed.slice(-LISTED) },
        {
          headers: { 'cache-control': 'private, no-store', vary: 'Authorization' },
        },
      );
    },
  });
}
