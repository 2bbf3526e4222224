import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type BenchmarkNode,
  createSigner,
  sha256,
  signBenchmark,
  signTrustBundle,
  toBase64url,
  utf8,
} from '@tallystick/core';
import { builtPage } from '../scripts/page.ts';
import type {
  Lossless,
  Material,
  MaterialRow,
  NodeDocument,
  NodeName,
  NodeSummary,
  Summary,
} from '../src/benchmark/documents.ts';

const DID = 'did:svc:bench';
const now = Date.now();
const signerOf = (name: string) => createSigner(sha256(utf8(`benchmark test: ${name}`)));
const [root, own, receipt] = await Promise.all([signerOf('root'), signerOf('own'), signerOf('receipt')]);

const keyOf = ({ keyId, publicKey }: typeof own, purpose: 'benchmark' | 'receipt') => ({
  key_id: keyId,
  public_key: toBase64url(publicKey),
  purpose,
  state: 'active' as const,
  valid_from: '2026-01-01T00:00:00Z',
  valid_until: null,
  revoked: null,
});

export const bundle = await signTrustBundle(
  {
    version: 1,
    issuedAt: now - 60_000,
    expiresAt: now + 86_400_000,
    issuers: [{ did: DID, status: 'verified', keys: [keyOf(own, 'benchmark'), keyOf(receipt, 'receipt')] }],
    log: null,
    chain: null,
  },
  root,
);

/** Signs a node's content, by default with the key for benchmarks in the page's trust bundle. */
export function signed(node: BenchmarkNode, content: object, signer = own): Promise<string> {
  return signBenchmark(node, content, { did: DID, issuedAt: now }, signer);
}

/** As `signed`, with the same issuer's key for receipts. */
export const signedForReceipts = (node: BenchmarkNode, content: object): Promise<string> =>
  signed(node, content, receipt);

const BUDGETS = [0.5, 0.25, 0.1];
const KEPT = {
  extractive: [0.976, 0.927, 0.803],
  bm25: [0.964, 0.931, 0.793],
  tail: [0.525, 0.272, 0],
};

/** Results of every tier at every budget; `less` is subtracted from those of the best node. */
const tiersOf = (less: number) =>
  Object.entries(KEPT).flatMap(([tier, shares]) =>
    BUDGETS.map((budget, index) => {
      const kept = Math.max((shares[index] ?? 0) - less, 0);
      return {
        tier,
        budget,
        cases: 230,
        documents: 40,
        kept,
        kept_ci95: [Math.max(kept - 0.043, 0), Math.min(kept + 0.031, 1)] as const,
        facts_kept: kept,
        tokens_before: 520_000,
        tokens_after: 520_000 * budget,
        saved_median: 1 - budget,
        saved_worst: 0.9 - budget,
        saved_best: 1.05 - budget,
        over_budget: tier === 'tail' && budget === 0.1 ? 2 : 0,
      };
    }),
  );

/** Differences that are better, equal and worse. */
const DIFFERENCES = [0.028, 0, -0.041];

const pairedOf = () =>
  BUDGETS.map((budget, index) => {
    const difference = DIFFERENCES[index] ?? 0;
    return {
      a: 'extractive',
      b: 'bm25',
      budget,
      cases: 230,
      difference,
      ci95: [difference - 0.022, difference + 0.024] as const,
      a_only: 11,
      b_only: 5,
    };
  });

export const origin = {
  version: 1,
  corpus: { sha256: 'a3f1'.repeat(16), documents: 62, cases: 396, tokens: 812_345 },
  command: 'npm run benchmark',
  generated_with: { package: '@tallystick/compress', version: '0.1.0', tokenizer: 'o200k_base' },
};

export const lossless: readonly Lossless[] = [
  {
    kind: 'JSON, uniform',
    documents: 6,
    decoded_equal: 6,
    saved_median: 0.52,
    saved_worst: 0.44,
    saved_best: 0.61,
  },
  { kind: 'logs', documents: 4, decoded_equal: 4, saved_median: 0.04, saved_worst: 0, saved_best: 0.2 },
  { kind: 'prose', documents: 5, decoded_equal: 5, saved_median: 0, saved_worst: 0, saved_best: 0 },
];

const nodeOf = (about: string, less: number, kinds: readonly string[]): NodeDocument => ({
  ...origin,
  about,
  tiers: tiersOf(less),
  paired: pairedOf(),
  by: kinds.flatMap((kind, index) => tiersOf(less + index / 20).map((tier) => ({ kind, ...tier }))),
  by_wording: ['plain', 'paraphrased'].flatMap((kind, index) =>
    tiersOf(less + index / 10).map((tier) => ({ kind, ...tier })),
  ),
  worst_cases: [
    {
      id: 'one',
      document: 'letters-3',
      kind: kinds[0] ?? '',
      budget: 0.5,
      question: 'Which pill was swapped, and <img src=x onerror=alert(1)>?',
      missing: ['She has me on losartan fifty\u202e from tonight.'],
      bm25_kept: true,
    },
  ],
});

const materialRow = (kind: string, kept: number): MaterialRow => ({
  kind,
  sources: 3,
  cases: 24,
  tiers: ['extractive', 'lines', 'random'].map((tier, i) => {
    const shares = [kept, kept / 2, kept / 4].map((share) => share / (1 + i));
    return { tier, kept: shares, kept_ci95: shares.map((share) => [share - 0.02, share + 0.02] as const) };
  }),
  minus_lines: [0.1, 0.05, 0],
  minus_lines_ci95: [0.1, 0.05, 0].map((share) => [share - 0.02, share + 0.02] as const),
});

const materialPart = (sha256: string) => ({
  sha256,
  files: 6,
  sources: 5,
  questions: 72,
  all: materialRow('all', 0.7),
  by: [materialRow('INI', 0.8), materialRow('YAML', 0.6)],
  survive: [materialRow('numbers', 0.9)],
});

const material: Material = {
  about: 'Material that others wrote.',
  budgets: BUDGETS,
  held_out: materialPart('b2'.repeat(32)),
  development: materialPart('c3'.repeat(32)),
  worst_cases: ['one', 'two', 'three', 'four', 'five'].map((id) => ({
    id: `development/yaml/${id}`,
    kind: 'YAML',
    budget: 0.25,
    question: `What is ${id} set to?`,
    missing: [`${id}: 7`],
    lines_kept: true,
  })),
};

/** The documents that the service would return. */
export const nodes: Readonly<Record<NodeName, NodeDocument>> = {
  semantic: nodeOf('Facts and answers kept.', 0, ['fact', 'needle']),
  temporal: nodeOf('Facts kept across turns and dates.', 0.02, ['newest', 'older']),
  modality: { ...nodeOf('By what the text is.', 0.05, ['dialogue', 'logs', 'tables']), lossless, material },
};

const summaryOf = ({ about, tiers, paired, ...rest }: NodeDocument): NodeSummary => ({
  about,
  tiers,
  paired,
  ...(rest.lossless === undefined ? {} : { lossless: rest.lossless }),
});

export const summary: Summary & { readonly version: number } = {
  ...origin,
  nodes: {
    semantic: summaryOf(nodes.semantic),
    temporal: summaryOf(nodes.temporal),
    modality: summaryOf(nodes.modality),
  },
  peers: [
    {
      name: 'LLMLingua-2',
      source: 'https://arxiv.org/abs/2403.12968',
      note: 'On other data.',
      says: ['compression ratios of 2x-5x'],
    },
    { name: 'Elsewhere', source: 'javascript:alert(1)', note: 'On other data.', says: ['92%'] },
  ],
};

interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Answers by node; null closes the connection. Changes take effect at once. */
export type Replies = Record<BenchmarkNode, Reply | null>;

/** All four documents, signed by an issuer that the page trusts. */
export async function goodReplies(): Promise<Replies> {
  const body = async (node: BenchmarkNode, content: object) => ({ body: await signed(node, content) });
  return {
    benchmark: await body('benchmark', summary),
    semantic: await body('semantic', nodes.semantic),
    temporal: await body('temporal', nodes.temporal),
    modality: await body('modality', nodes.modality),
  };
}

/** Starts a site that serves the built page and these documents on a loopback port. */
export async function startSite(replies: Replies, { trusted = true } = {}) {
  const site = `{"site":"https://bench.test","bundle":${bundle}}`.replaceAll('<', '\\u003c');
  const html = readFileSync(builtPage('benchmark'), 'utf8').replace(
    'id="site-trust">null',
    () => `id="site-trust">${trusted ? site : 'null'}`,
  );
  const server = createServer(({ url = '/' }, response) => {
    if (url === '/benchmark') return response.setHeader('content-type', 'text/html').end(html);
    if (url.startsWith('/assets/')) {
      const face = readFileSync(new URL(`.${url}`, builtPage('benchmark')));
      return response.setHeader('content-type', 'font/woff2').end(face);
    }
    const node = /^\/v1\/compute\/(?:benchmark\/)?(\w+)$/.exec(url)?.[1] ?? '';
    const reply = Object.hasOwn(replies, node) ? replies[node as BenchmarkNode] : { status: 404, body: '' };
    if (reply === null) return response.destroy();
    const { status = 200, headers = {}, body } = reply;
    return response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () =>
    new Promise<void>((closed) => {
      server.closeAllConnections();
      server.close(() => closed());
    });
  return { url, close };
}
