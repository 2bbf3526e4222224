import {
  DEFAULT_PROFILE,
  isObject,
  type JsonObject,
  type JsonValue,
  type StatusEndpoint,
} from '@tallystick/core';
import { recommendedBy } from '@tallystick/receipts';

/** What a round of probes knows, and passes from one probe to the next. */
export interface Round {
  /** The service's own issuer. */
  readonly did: string;
  /** The receipts that this round's probes minted, for the probes of verifying; null if they did not. */
  free: JsonObject | null;
  emitted: JsonObject | null;
}

export interface ProbeReply {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  /** The body where it is a JSON object, else empty. */
  readonly json: JsonObject;
}

/** One endpoint, the request that tests it, and whether an answer is right. */
export interface ProbedEndpoint
  extends Pick<StatusEndpoint, 'name' | 'method' | 'path' | 'availability' | 'probe'> {
  /** The requested path, where the endpoint's path has parameters. */
  readonly target?: (round: Round) => string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: (round: Round) => JsonValue;
  readonly holds: (reply: ProbeReply, round: Round) => boolean;
}

type ProbeRequest = Omit<ProbedEndpoint, 'name' | 'method' | 'path' | 'availability' | 'probe'>;
type At = readonly [method: 'GET' | 'POST', path: string];

const PURPOSE = 'status probe';

/** A well-formed key that does not exist: it is looked up, and refused. */
const unknownKey = (prefix: string): Record<string, string> => ({
  authorization: `Bearer ${prefix}${'0'.repeat(32)}`,
});
const keyRefused = ({ status, json }: ProbeReply): boolean =>
  status === 401 && typeof json.code === 'string' && json.code.startsWith('api_key_');

/** An endpoint whose probe is answered in full. */
function served(name: string, [method, path]: At, ask: ProbeRequest): ProbedEndpoint {
  return { name, method, path, availability: 'live', probe: 'answer', ...ask };
}

/** An endpoint that would cost money or leave traces: its probe is meant to be refused. */
function refused(
  name: string,
  [method, path]: At,
  ask: ProbeRequest,
  availability: ProbedEndpoint['availability'] = 'live',
): ProbedEndpoint {
  return { name, method, path, availability, probe: 'refusal', ...ask };
}

const TENANT = '/tenants/t_0000000000000000';
const HASH = 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg';

/** The endpoints whose status is told, in the order of docs/status.md and of their probes. */
export const ENDPOINTS: readonly ProbedEndpoint[] = [
  served('receipt_free', ['POST', '/v1/receipt/free'], {
    body: () => ({ input: 'status', purpose: PURPOSE }),
    holds({ status, json }, round) {
      round.free = status === 200 && json.v === 'svc-receipt-v1' ? json : null;
      return round.free !== null;
    },
  }),
  served('receipt_emit', ['POST', '/v1/receipt/emit'], {
    body: () => ({ input: 'status', purpose: PURPOSE }),
    holds({ status, json }, round) {
      round.emitted = status === 200 && json.receipt_profile === DEFAULT_PROFILE ? json : null;
      return round.emitted !== null;
    },
  }),
  served('receipt_verify', ['POST', '/v1/receipt/verify'], {
    body: ({ free }) => free ?? {},
    holds: (reply, { free }) => (free === null ? noReceipt(reply) : reply.json.valid === true),
  }),
  served('receipts_verify', ['POST', '/v1/receipts/verify'], {
    body: ({ emitted }) => (emitted === null ? {} : { receipts: [emitted] }),
    holds: (reply, { emitted }) => (emitted === null ? noReceipt(reply) : allValid(reply.json.results)),
  }),
  served('pricing', ['GET', '/pricing'], {
    holds: ({ status, json }) => status === 200 && Array.isArray(json.profiles),
  }),
  served('rubric', ['POST', '/v1/rubric/select'], {
    body: () => ({ intent: 'buy', amount: '0.001' }),
    holds: ({ json }) => json.recommended_profile === recommendedBy('sub_cent').name,
  }),
  served('verifier_page', ['GET', '/verify'], {
    headers: { accept: 'text/html' },
    holds: ({ status, contentType, text }) =>
      status === 200 && contentType.startsWith('text/html') && text.includes('</html>'),
  }),
  refused('tenant_receipts', ['POST', '/tenants/{id}/receipts'], {
    target: () => `${TENANT}/receipts`,
    headers: unknownKey('k_ten_'),
    body: () => ({ input: 'status', purpose: PURPOSE }),
    holds: keyRefused,
  }),
  refused('tenant_evidence', ['GET', '/tenants/{id}/evidence'], {
    target: () => `${TENANT}/evidence`,
    headers: unknownKey('k_ten_'),
    holds: keyRefused,
  }),
  refused(
    'rosetta',
    ['POST', '/v1/rosetta/normalize'],
    {
      headers: unknownKey('k_par_'),
      body: () => ({ jurisdiction: 'eu', policy: [{ concept: 'retention', days: 30 }], targets: ['uk'] }),
      holds: keyRefused,
    },
    'pilot',
  ),
  refused(
    'prospector',
    ['POST', '/v1/prospector/qualify'],
    {
      headers: unknownKey('k_par_'),
      body: () => ({ origin: 'https://example.com' }),
      holds: keyRefused,
    },
    'pilot',
  ),
  refused('anchor', ['POST', '/v1/anchor'], {
    headers: unknownKey('k_pro_'),
    body: () => ({ canonical_sha256: HASH }),
    holds: keyRefused,
  }),
  served('issuer_registry', ['GET', '/.well-known/issuers/{did}.json'], {
    target: ({ did }) => `/.well-known/issuers/${did}.json`,
    holds: ({ status, json }, { did }) => status === 200 && json.did === did,
  }),
  refused('compute_chat', ['POST', '/v1/compute/chat/completions'], {
    headers: unknownKey('k_pro_'),
    body: () => ({ model: 'auto', messages: [{ role: 'user', content: PURPOSE }] }),
    holds: keyRefused,
  }),
  served('compute_models', ['GET', '/v1/compute/models'], {
    holds: ({ json }) => Array.isArray(json.data) && json.data.length > 0,
  }),
  refused('member_register', ['POST', '/v1/compute/member/register'], {
    body: ({ did }) => ({ did, handle: '-' }),
    holds: ({ status, json }) => status === 422 && json.code === 'invalid_field' && json.field === 'handle',
  }),
  refused('mcp', ['POST', '/mcp'], {
    // A message of another protocol version: refused before the tools are loaded, which takes time and memory.
    body: () => ({ jsonrpc: '1.0', id: 1, method: 'ping' }),
    holds: ({ status, json }) => status === 400 && json.jsonrpc === '2.0' && isObject(json.error),
  }),
];

function noReceipt({ json }: ProbeReply): boolean {
  return json.code === 'not_a_receipt';
}

function allValid(results: JsonValue | undefined): boolean {
  return (
    Array.isArray(results) &&
    results.length > 0 &&
    results.every((one) => isObject(one) && one.valid === true)
  );
}
