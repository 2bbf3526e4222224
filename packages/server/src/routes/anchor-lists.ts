import { z } from '@hono/zod-openapi';
import { CALLER_ERRORS, isApiKeyId } from '@tallystick/callers';
import { formatTimestamp, receiptIdPattern } from '@tallystick/core';
import { json } from '../http/answer.ts';
import { bucketQuery, bucketsOf } from '../http/buckets.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { EXPORT_TYPES, listQuery, pageSchema } from '../http/list.ts';
import { ACCOUNT_CREDENTIALS } from '../http/security.ts';
import type { Services } from '../services.ts';
import { countBetween, countedSchema } from './counted.ts';
import { readHash } from './hash-text.ts';
import { admitOwner, filtersOf, OWNER_HEADERS, ownerOf, PRIVATE, type Whose } from './listings.ts';
import { hashText, leafList, leafSchema } from './log-rows.ts';

type Needs = Pick<Services, 'config' | 'store' | 'callers' | 'clock'>;

const keyFilter = z.string().refine(isApiKeyId, 'Not the id of an API key').optional().openapi({
  description: 'The id of the API key that the hash was handed in with, `key_…`.',
});

const anchorFilters = {
  canonical_sha256: hashText.optional(),
  key: keyFilter,
  receipt_id: z.string().regex(receiptIdPattern, 'Not the id of a receipt').optional().openapi({
    description: 'The id of a receipt of yours that was anchored when it was issued.',
  }),
};

/** The hashes that a caller anchored, listed and counted. */
export function anchorListRoutes(services: Needs): Endpoint[] {
  return [anchors(services), anchorCounts(services)];
}

function anchors(services: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/anchors',
    operationId: 'listAnchors',
    credentials: [...ACCOUNT_CREDENTIALS, 'tenantKey'],
    group: 'Anchor',
    summary: 'List the hashes that you anchored',
    description:
      'The hashes that were handed in with your key, those of anchored receipts too, each with its place in the log and the posting that took it to the chain. In the order of their places, the highest first; `from` and `to` are times of the scheduled postings. A key that another account pays for sees those that came with it.',
    availability: 'live',
    headers: OWNER_HEADERS,
    query: z.strictObject({ ...listQuery, ...anchorFilters }),
    answers: {
      200: {
        description: 'The hashes, newest first',
        schema: pageSchema(leafSchema),
        otherwise: EXPORT_TYPES,
      },
    },
    errors: [...CALLER_ERRORS, 'invalid_base64url'],
    admit: admitOwner(services),
    async handle(call) {
      const { canonical_sha256, key, receipt_id, ...query } = call.query;
      const whose = await ownerOf(services, call);
      const within = await placeOf(services, whose, { canonical_sha256, key, receipt_id });
      return leafList(services.store.log, query, {
        name: 'anchors',
        owner: whose.owner,
        key: whose.key ?? key ?? null,
        within,
      });
    },
  });
}

type Filters = { readonly [Name in keyof typeof anchorFilters]: z.infer<(typeof anchorFilters)[Name]> };

/** The part of the log that the filters leave, as indexes of leaves. @throws invalid_base64url */
async function placeOf(
  { store, clock }: Needs,
  { owner, key: only }: Whose,
  { canonical_sha256: hash, key, receipt_id }: Filters,
): Promise<{ readonly from?: number; readonly before?: number }> {
  const none = { before: 0 };
  if (only !== null && key !== undefined && key !== only) return none;
  const places: (number | null)[] = [];
  if (hash !== undefined)
    places.push((await store.log.findLeaf(readHash(hash, 'canonical_sha256')))?.index ?? null);
  if (receipt_id !== undefined) {
    const filters = filtersOf({ receipt_id }, only);
    const before = { at: Number.MAX_SAFE_INTEGER, id: '' };
    const now = Math.floor(clock() / 1_000);
    const [row] =
      filters === null
        ? []
        : await store.receiptList.page({ ...filters, owner, from: 0, before, now, limit: 1 });
    places.push(row?.leafIndex ?? null);
  }
  const [place] = places;
  if (place === undefined) return {};
  return place === null || places.some((other) => other !== place)
    ? none
    : { from: place, before: place + 1 };
}

function anchorCounts(services: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/anchors/counts',
    operationId: 'countAnchors',
    credentials: [...ACCOUNT_CREDENTIALS, 'tenantKey'],
    group: 'Anchor',
    summary: 'Count the hashes that you anchored',
    description:
      'How many hashes of `GET /v1/anchors` were scheduled for postings in each bucket of time (UTC), newest first, for plots. A bucket without hashes is left out.',
    availability: 'live',
    headers: OWNER_HEADERS,
    query: z.strictObject({ ...bucketQuery, key: keyFilter }),
    answers: { 200: { description: 'The counts', schema: countedSchema('anchors') } },
    errors: CALLER_ERRORS,
    admit: admitOwner(services),
    async handle(call) {
      const { store, clock, config } = services;
      const { owner, key: only } = await ownerOf(services, call);
      const key = only ?? call.query.key ?? null;
      const buckets = bucketsOf(call.query, clock() + config.log.periodSeconds * 1_000);
      if (call.query.key !== undefined && call.query.key !== key)
        return json({ data: [] }, { headers: PRIVATE });
      const ranges = await countBetween(buckets, (times) => store.log.firstLeavesAt(times));
      const counts = await store.log.countAnchors({ owner, key }, ranges);
      const data = ranges.flatMap(({ at }, index) => {
        const found = counts[index] ?? 0;
        return found === 0 ? [] : { at: formatTimestamp(at * 1_000), anchors: found };
      });
      return json({ data }, { headers: PRIVATE });
    },
  });
}
