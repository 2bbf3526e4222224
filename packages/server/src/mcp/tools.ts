import type { ToolAnnotations } from '@modelcontextprotocol/server';
import { type JsonObject, PROFILES } from '@tallystick/core';
import { alternatives } from '@tallystick/kit';

/** A tool: an endpoint of the HTTP interface under a name, whose arguments are the endpoint's input. */
export interface ToolDefinition {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** `METHOD path`, as in the OpenAPI document; of several, the first whose path parameters are all given. */
  readonly routes: readonly [string, ...string[]];
  readonly annotations: ToolAnnotations;
  /** Arguments that the endpoint has and the tool does not. */
  readonly omit?: readonly string[];
  /** The arguments, where the endpoint's body has several forms: JSON Schemas by name. */
  readonly arguments?: Readonly<Record<string, JsonObject>>;
  readonly required?: readonly string[];
}

/** No tool deletes or overwrites. `openWorldHint`: whether it reaches beyond this service. */
const READS: ToolAnnotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };
const ADDS: ToolAnnotations = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };

export const TOOLS: readonly ToolDefinition[] = [
  {
    name: 'mint_receipt',
    title: 'Mint a receipt',
    description:
      'Signs a receipt for the SHA-256 of a text, free and without an account. The text is not stored. Anyone can verify the receipt, offline, years later.',
    routes: ['POST /v1/receipt/free'],
    annotations: { ...ADDS, idempotentHint: false },
  },
  {
    name: 'emit_receipt',
    title: 'Emit a receipt of a chosen profile',
    description: `Signs a receipt of a chosen profile (${alternatives(PROFILES)}) for an agent. Give one of payload, input and payload_sha256. select_profile recommends the profile.`,
    routes: ['POST /v1/receipt/emit'],
    annotations: { ...ADDS, idempotentHint: false },
  },
  {
    name: 'open_session',
    title: 'Open a session',
    description:
      'Opens a session that the service signs: receipts of what an agent does, in an order that shows what is missing. Draw 32 hex characters as its id and 32 random bytes as its salt, and keep the salt secret. The same id again returns the same receipt.',
    routes: ['POST /v1/sessions'],
    annotations: { ...ADDS, idempotentHint: true },
  },
  {
    name: 'add_session_receipt',
    title: 'Add a receipt to a session',
    description:
      'Signs the next receipt of a session: of a tool call, a reference to a receipt, or the closing. Give the number of the receipt and the anchored hash of the one before; an error `session_conflict` says which they are.',
    routes: ['POST /v1/sessions/{id}/receipts'],
    annotations: { ...ADDS, idempotentHint: true },
  },
  {
    name: 'meter',
    title: 'Mint a metering receipt',
    description:
      'Signs a bill of machine service units and states how much of it is backed by evidence. Serial numbers and salts stay with you: send commitments to them.',
    routes: ['POST /v1/receipt/metering'],
    annotations: { ...ADDS, idempotentHint: false },
  },
  {
    name: 'verify_receipt',
    title: 'Verify a receipt',
    description:
      'Checks a receipt of any family. `valid` means that the receipt is unchanged since it was signed and that the rules hold; `issuer.trusted` means that its key belongs to a verified issuer. Check both.',
    routes: ['POST /v1/receipt/verify'],
    annotations: READS,
    arguments: {
      receipt: { type: 'object', description: 'The receipt, exactly as the service returned it.' },
      evidence: {
        type: 'array',
        items: { type: 'object' },
        description:
          'The evidence of a metering receipt: its leaves, or the whole receipts that back its units.',
      },
      anchor: {
        type: 'object',
        description: 'The anchored result of the receipt, if the receipt does not contain it.',
      },
    },
    required: ['receipt'],
  },
  {
    name: 'anchor_hash',
    title: 'Anchor a hash',
    description:
      'Places the SHA-256 of a receipt, or of anything, in the anchor log, whose root is posted to a chain. Needs an API key. Sending the same hash again returns its current state.',
    routes: ['POST /v1/anchor'],
    annotations: { ...ADDS, idempotentHint: true },
    omit: ['idempotency_key'],
  },
  {
    name: 'resolve_anchor',
    title: 'Look up an anchor',
    description:
      'Where a hash is in the anchor log: pending, or anchored with its proof. Give anchor_ref or hash.',
    routes: ['GET /v1/anchor/{anchor_ref}', 'GET /v1/anchor/by-hash/{hash}'],
    annotations: READS,
  },
  {
    name: 'estimate',
    title: 'Estimate a chat call',
    description:
      'Takes the arguments of chat and returns how many tokens compression would leave, which model would answer, the maximum cost and the share of the saving that would come back. No model is called.',
    routes: ['POST /v1/compute/estimate'],
    annotations: READS,
    omit: ['stream', 'stream_options'],
  },
  {
    name: 'chat',
    title: 'Chat with a model',
    description:
      'An OpenAI chat completion, routed to a model, billed to the caller and recorded in a receipt: `svc` holds the signed receipt, the route, the compression and the bill. Set `svc.compression` to say how the prompt may be compressed, and `svc.explain` for every detail.',
    routes: ['POST /v1/compute/chat/completions'],
    annotations: { ...ADDS, idempotentHint: false, openWorldHint: true },
    omit: ['stream', 'stream_options'],
  },
  {
    name: 'embed',
    title: 'Embed texts',
    description: 'OpenAI embeddings, billed to the caller and recorded in a receipt.',
    routes: ['POST /v1/compute/embeddings'],
    annotations: { ...ADDS, idempotentHint: false, openWorldHint: true },
  },
  {
    name: 'rate',
    title: 'Rate an answer',
    description:
      'Rates the answer of a chat call, by the id of its receipt, with the credentials that paid for it: a score from 0 to 100, or the label good or bad. The first rating of a call stands.',
    routes: ['POST /v1/compute/feedback'],
    annotations: { ...ADDS, idempotentHint: true },
  },
  {
    name: 'list_calls',
    title: 'List your calls',
    description:
      'The calls of models that were made as the caller, newest first, with filters: model, status, cost, tag, session and others. Give next_cursor of an answer as cursor for older ones.',
    routes: ['GET /v1/compute/calls'],
    annotations: READS,
    omit: ['format'],
  },
  {
    name: 'get_call',
    title: 'Read one of your calls',
    description:
      'One call of a model by the id of its row: how long each step took, why it went to its model, what it cost and what compression did.',
    routes: ['GET /v1/compute/calls/{id}'],
    annotations: READS,
  },
  {
    name: 'select_profile',
    title: 'Recommend a receipt profile',
    description: `Recommends a receipt profile (${alternatives(PROFILES)}) by intent, amount and counterparty, and says why.`,
    routes: ['POST /v1/rubric/select'],
    annotations: READS,
  },
];
