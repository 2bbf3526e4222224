import { type JsonObject, TallyError } from '@tallystick/core';
import { asObject, asText, objectsOf } from '../providers/members.ts';
import type { ChatBody } from '../types.ts';

export const RETRIEVE = 'svc_retrieve';

/** The same in every call, so that it never invalidates a provider's cache. */
const TOOL: JsonObject = {
  type: 'function',
  function: {
    name: RETRIEVE,
    description:
      'Gives back text that was cut from this conversation to save room. A text that begins with [cut ID: …] lacks what it says; call this with that ID when the answer may be in what is missing.',
    parameters: {
      type: 'object',
      properties: {
        id: { type: 'string', description: 'The ID of the notice: 12 digits.' },
        query: { type: 'string', description: 'What you look for in it, where the text is long.' },
      },
      required: ['id'],
      additionalProperties: false,
    },
  },
};

/** Adds the tool after the caller's own tools. @throws invalid_request for what cannot be combined with the tool */
export function addRetrieveTool(body: ChatBody): ChatBody {
  const { n, functions } = body;
  if (typeof n === 'number' && n > 1) throw conflict('n', 'n is above 1');
  if (Array.isArray(functions)) throw conflict('functions', 'the request has functions in place of tools');
  const tools = objectsOf(body['tools']);
  if (tools.some((tool) => asObject(tool['function'])?.['name'] === RETRIEVE))
    throw conflict('tools', `a tool is named ${RETRIEVE}`);
  return { ...body, tools: [...tools, TOOL] };
}

function conflict(field: string, why: string): TallyError {
  return new TallyError('invalid_request', `svc.retrieve cannot be used where ${why}.`, {
    field,
  });
}

/** The arguments with which a model calls the tool. */
export interface RetrieveArguments {
  readonly id: string;
  readonly query: string | null;
}

/** Whether a tool call, complete or partial, names the tool. */
export function isRetrieveCall(call: JsonObject): boolean {
  return asObject(call['function'])?.['name'] === RETRIEVE;
}

/** The arguments of a tool call; null where they are invalid. */
export function argumentsOf(call: JsonObject): RetrieveArguments | null {
  const callArguments = parsed(asText(asObject(call['function'])?.['arguments']) ?? '');
  const id = asText(callArguments?.['id']);
  return id === null ? null : { id, query: asText(callArguments?.['query']) };
}

function parsed(text: string): JsonObject | null {
  try {
    return asObject(JSON.parse(text) as JsonObject);
  } catch {
    return null;
  }
}
