import { z } from '@hono/zod-openapi';
import { AGENT_HEADERS, CALLER_ERRORS, type Caller, type ClientCall } from '@tallystick/callers';
import {
  ENVELOPE_PROFILE,
  type JsonValue,
  receiptIdPattern,
  rootOf,
  type SessionCall,
  type SessionEntryToSign,
  shortName,
  TallyError,
} from '@tallystick/core';
import { X402 } from '@tallystick/ledger';
import {
  issueStep,
  readSession,
  refuseUnpaid,
  STEP_PRICE,
  type StepRequest,
  sessionNotFound,
} from '@tallystick/receipts';
import type { Answer } from '../http/answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Exchange } from '../http/exchange.ts';
import { ACCOUNT_CREDENTIALS, CALL_CREDENTIALS } from '../http/security.ts';
import { textStream } from '../http/text-stream.ts';
import type { Services } from '../services.ts';
import { MINT_ERRORS, type MintNeeds, RECEIPT_HEADERS, receiptAnswerOf } from './receipt-answer.ts';
import { envelopeSchema } from './receipt-shapes.ts';
import { sha256Text } from './shapes.ts';

type Needs = MintNeeds & Pick<Services, 'mutex'>;

const GROUP = 'Sessions';

/** Sessions of agents whose receipts the service signs (spec/sessions.md). */
export function sessionRoutes(services: Needs): Endpoint[] {
  return [open(services), add(services), read(services)];
}

const ID = /^[0-9a-f]{32}$/;
const sessionId = z.string().regex(ID, 'Not 32 lower-case hex characters');
const decimal = z
  .string()
  .regex(/^(?:0|[1-9][0-9]{0,14})$/, 'Not a whole number in decimal digits')
  .openapi({ example: '1' });
const name = z
  .string()
  .min(1)
  .refine(
    (text) => shortName(text) === text,
    'A name of more than 128 bytes of UTF-8 is replaced by sha256:<hex> of them',
  );

const place = z
  .strictObject({
    id: sessionId.openapi({ description: 'The id of the session.' }),
    seq: decimal.openapi({ description: 'The number of the receipt, from `0`.' }),
    prev: sha256Text.openapi({ description: 'The anchored hash of the receipt before.' }),
  })
  .openapi({ description: 'The place of the receipt.' });

const tool = z.strictObject({
  kind: z.literal('tool').openapi({ description: 'A call of a tool.' }),
  tool: name.openapi({ description: 'The name of the tool.', example: 'read_file' }),
  server: z
    .strictObject({
      name: name.openapi({ description: 'The name of the server.' }),
      version: z.string().min(1).nullable().openapi({ description: 'Its version; null if it is not known.' }),
      transport: z.enum(['stdio', 'http', 'in_process']).openapi({ description: 'How it is reached.' }),
      identity_sha256: sha256Text
        .nullable()
        .openapi({ description: 'A hash of what identifies it; null if that is not known.' }),
    })
    .openapi({ description: 'Whose tool it is.' }),
  outcome: z
    .enum(['completed', 'error', 'denied', 'cancelled', 'unknown'])
    .openapi({ description: 'What became of the call.' }),
  raw: z
    .array(z.enum(['arguments', 'result']))
    .optional()
    .openapi({ description: 'What is no I-JSON, and hashed as the bytes that it came in.' }),
  session: place,
});

const reference = z.strictObject({
  kind: z.literal('reference').openapi({ description: 'A reference to a receipt.' }),
  receipt_id: z
    .string()
    .regex(receiptIdPattern, 'Not the id of a receipt')
    .regex(/^r_env_/, 'Not the id of an envelope')
    .openapi({ description: 'The id of the receipt of somebody else.' }),
  receipt_sha256: sha256Text.openapi({ description: 'Its anchored hash.' }),
  child: sessionId.optional().openapi({ description: 'The id of the session that it opens.' }),
  session: place,
});

const closing = z.strictObject({
  kind: z.literal('session').openapi({ description: 'An event of the session itself.' }),
  event: z.literal('close').openapi({ description: 'The end.' }),
  count: decimal.openapi({ description: 'The number of receipts, opening and closing included.' }),
  head: sha256Text.openapi({ description: 'The same as `prev`.' }),
  session: place,
});

const PARAMS = z.object({
  id: z
    .string()
    .openapi({ description: 'The id of the session.', example: '5f0c1b2a9d8e7f60112233445566778a' }),
});

const HEADERS = {
  Authorization: '`Bearer` and the API key that the session belongs to.',
  ...AGENT_HEADERS,
};

const ERRORS = [
  ...CALLER_ERRORS,
  'session_conflict',
  'receipt_too_large',
  'receipt_purged',
  ...MINT_ERRORS,
] as const;

const STEP_ANSWERS = {
  200: {
    description: 'The receipt of the same request that came before; it costs nothing again',
    schema: envelopeSchema,
    headers: RECEIPT_HEADERS,
  },
  201: { description: 'The receipt', schema: envelopeSchema, headers: RECEIPT_HEADERS },
};

function open(services: Needs): Endpoint {
  return endpoint({
    method: 'post',
    path: '/v1/sessions',
    operationId: 'openSession',
    credentials: CALL_CREDENTIALS,
    group: GROUP,
    summary: 'Open a session that the service signs',
    description:
      'Signs the opening of a session: the receipts of what an agent does, in order (spec/sessions.md). You draw the id, so that a request whose answer was lost can be sent again. The session belongs to the API key, to the DID that a message signature proves, or to the wallet that pays by x402.',
    availability: 'live',
    headers: HEADERS,
    price: STEP_PRICE,
    body: z.strictObject({
      session_id: sessionId.openapi({ description: '128 random bits.' }),
      salt_commitment: sha256Text.openapi({
        description: 'The SHA-256 of the 32 random bytes that arguments and results are salted with.',
      }),
      continues: z
        .strictObject({
          id: sessionId.openapi({ description: 'The id of the session.' }),
          count: decimal.openapi({ description: 'The number of its receipts.' }),
          head: sha256Text.openapi({ description: 'The anchored hash of its last receipt.' }),
        })
        .optional()
        .openapi({ description: 'The session under another key that this one goes on from.' }),
      parent: z
        .strictObject({
          id: sessionId.openapi({ description: 'The id of the session.' }),
          seq: decimal.openapi({ description: 'The number of its newest receipt.' }),
          receipt_sha256: sha256Text.openapi({ description: 'The anchored hash of that receipt.' }),
        })
        .optional()
        .openapi({ description: 'The session that began this one.' }),
      anchor: z.boolean().optional().openapi({
        description:
          'Anchor the closing receipt, whose hash covers every receipt before it. Needs an API key.',
      }),
    }),
    example: {
      session_id: '5f0c1b2a9d8e7f60112233445566778a',
      salt_commitment: 'sha256:66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925',
    },
    answers: STEP_ANSWERS,
    errors: ERRORS,
    admit: services.callers.admitPayer,
    handle: (call) => {
      const { session_id: id, salt_commitment, continues, parent, anchor = false } = call.body;
      const opening = {
        event: 'open' as const,
        kind: 'session' as const,
        salt_commitment,
        session: { id, prev: rootOf(id), seq: '0' },
        ...(continues && { continues }),
        ...(parent && { parent }),
      };
      const entry = { call: opening, purpose: 'session' as const, request: null, response: null };
      return sign(services, call, { entry, anchor });
    },
  });
}

const PURPOSES = { tool: 'tool_call', reference: 'reference', session: 'session' } as const;

function add(services: Needs): Endpoint {
  return endpoint({
    method: 'post',
    path: '/v1/sessions/{id}/receipts',
    operationId: 'addSessionReceipt',
    credentials: CALL_CREDENTIALS,
    group: GROUP,
    summary: 'Add a receipt to a session',
    description:
      'Signs the next receipt of a session: of a tool call, of a reference to a receipt, or the closing. `call.session` names the place, and must follow the newest receipt; otherwise the answer is `session_conflict`, with the place that does. The same request again gets the same receipt. The service sees neither arguments nor results, and marks what it is told as `declared`.',
    availability: 'live',
    headers: HEADERS,
    price: STEP_PRICE,
    params: PARAMS,
    body: z.strictObject({
      call: z
        .discriminatedUnion('kind', [tool, reference, closing])
        .openapi({ description: 'What happened; it is signed as it is.' }),
      request_hash: sha256Text
        .nullable()
        .openapi({ description: 'Of a tool: the salted hash of its arguments. Null if there are none.' }),
      response_hash: sha256Text
        .nullable()
        .openapi({ description: 'Of a tool: the salted hash of its result. Null if there is none.' }),
      anchor: z.boolean().optional().openapi({
        description:
          'Anchor this receipt, and with it every receipt before it. Needs an API key; with a Scale or Enterprise key every receipt is anchored.',
      }),
    }),
    example: {
      call: {
        kind: 'tool',
        tool: 'read_file',
        server: { name: 'filesystem', version: '1.0.0', transport: 'stdio', identity_sha256: null },
        outcome: 'completed',
        session: {
          id: '5f0c1b2a9d8e7f60112233445566778a',
          seq: '1',
          prev: 'sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
        },
      },
      request_hash: 'sha256:fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9',
      response_hash: 'sha256:baa5a0964d3320fbc0c6a922140453c8513ea24ab8fd0577034804a967248096',
    },
    answers: STEP_ANSWERS,
    errors: [...ERRORS, 'session_not_found', 'session_closed', 'session_key_changed'],
    admit: services.callers.admitPayer,
    handle: (call) => sign(services, call, { entry: entryOf(call), anchor: call.body.anchor ?? false }),
  });
}

interface StepCall {
  readonly params: { readonly id: string };
  readonly body: {
    readonly call: z.infer<typeof tool | typeof reference | typeof closing>;
    readonly request_hash: string | null;
    readonly response_hash: string | null;
  };
}

/** @throws invalid_field for what contradicts itself */
function entryOf({ params, body }: StepCall): SessionEntryToSign {
  const { call, request_hash: request, response_hash: response } = body;
  const { session } = call;
  if (session.id !== params.id) throw wrong('call.session.id', 'It is not the id in the path.');
  if (call.kind === 'session') {
    if (call.count !== String(Number(session.seq) + 1)) {
      throw wrong('call.count', 'It counts the closing too, so it is one more than call.session.seq.');
    }
    if (call.head !== session.prev) throw wrong('call.head', 'It is not call.session.prev.');
  }
  if (call.kind !== 'tool' && request !== null) throw wrong('request_hash', 'Only a tool has arguments.');
  if (call.kind !== 'tool' && response !== null) throw wrong('response_hash', 'Only a tool has a result.');
  // JSON has no members that are undefined.
  return { call: call as SessionCall, purpose: PURPOSES[call.kind], request, response };
}

function wrong(field: string, why: string): TallyError {
  return new TallyError('invalid_field', `${field}: ${why}`, { field });
}

type Received = Exchange & ClientCall & { readonly body: object };

async function sign(
  services: Needs,
  call: Received,
  { entry, anchor }: Pick<StepRequest, 'entry' | 'anchor'>,
): Promise<Answer> {
  const { clients } = services;
  const caller = await services.callers.payerOf(call);
  const owner = await ownerOf(services, call, caller);
  const issued = await issueStep(services, call, {
    entry,
    anchor,
    owner,
    agent: caller,
    credential:
      caller.key?.kind === 'apiKey' ? caller.key : { kind: 'none', group: clients.group(call.incoming) },
    claim: { route: new URL(call.incoming.url).pathname, body: call.body as JsonValue },
  });
  return { ...receiptAnswerOf(issued, ENVELOPE_PROFILE), status: issued.replayed ? 200 : 201 };
}

/** The account of whoever asks; of who is known by a payment alone, the wallet. @throws payment_required without one */
async function ownerOf(services: Needs, call: Received, { name: account }: Caller): Promise<string> {
  if (account !== X402) return account;
  await refuseUnpaid(services, call, { profile: ENVELOPE_PROFILE, mayBePrepaid: false });
  return `wallet:${services.payments?.offered(call)?.payer ?? ''}`;
}

const LINES = 'application/jsonl';

function read(services: Needs): Endpoint {
  const { callers } = services;
  return endpoint({
    method: 'get',
    path: '/v1/sessions/{id}',
    operationId: 'getSession',
    credentials: ACCOUNT_CREDENTIALS,
    group: GROUP,
    summary: 'Read a session',
    description:
      'The receipts of a session in order, as JSON Lines: what `tally session verify` takes. Only for the API key or the DID that it belongs to, and for the account that pays for that key. A receipt whose retention has ended is left out; one that is anchored has its anchor.',
    availability: 'live',
    headers: HEADERS,
    params: PARAMS,
    answers: {
      200: {
        description: 'The receipts, one a line',
        contentType: LINES,
        schema: z.string(),
      },
    },
    errors: [...CALLER_ERRORS, 'session_not_found', 'receipt_purged'],
    admit: callers.admitCaller,
    async handle(call) {
      const { id } = call.params;
      const { name, account } = await callers.callerOf(call);
      if (!ID.test(id)) throw sessionNotFound();
      const lines = await readSession(services, { id, name, account });
      return {
        status: 200,
        body: textStream(lines),
        contentType: LINES,
        headers: { 'cache-control': 'private, no-store' },
      };
    },
  });
}
