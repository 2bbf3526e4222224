import { type JsonObject, type JsonValue, TallyError } from '@tallystick/core';
import { asObject, asText, objectsOf } from '../providers/members.ts';
import type { ChatBody } from '../types.ts';

export const RETRIEVE = 'svc_retrieve';

/** The same in every call, so that it never invalidates a provider's cache. */
const TOOL: JsonObject = {
  type: 'function',
  function: {
    name: RETRIEVE,
    description:
      'Gives back exactly what was cut from this conversation to save room. A text that begins with [cut ID: …] lacks what it says; call this with that ID when the answer may be in what is missing. A long text comes in parts, whose last line says how to go on.',
    parameters: {
      type: 'object',
      properties: {
        id: { type: 'string', description: 'The ID of the notice: 12 digits.' },
        query: {
          type: 'string',
          description: 'What you look for in it: where not all of it fits, the nearest to this comes first.',
        },
        from: {
          type: 'integer',
          description:
            'The first line, turn, row or whatever the notice counts; 1 is the first of the whole text.',
        },
        to: { type: 'integer', description: 'The last one.' },
        offset: { type: 'integer', description: 'How many characters of the first one to skip.' },
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
  /** Numbers of the first and the last unit that it wants; 1 and infinity where it does not say. */
  readonly from: number;
  readonly to: number;
  /** UTF-16 units of the first one that it does not want. */
  readonly offset: number;
}

/** Whether a tool call, complete or partial, names the tool. */
export function isRetrieveCall(call: JsonObject): boolean {
  return asObject(call['function'])?.['name'] === RETRIEVE;
}

/** The arguments of a tool call; null where they are invalid. */
export function argumentsOf(call: JsonObject): RetrieveArguments | null {
  const callArguments = parsed(asText(asObject(call['function'])?.['arguments']) ?? '');
  const id = asText(callArguments?.['id']);
  if (callArguments === null || id === null) return null;
  const { query, from, to, offset } = callArguments;
  return {
    id,
    query: asText(query),
    from: wholeNumber(from, 1),
    to: wholeNumber(to, Number.POSITIVE_INFINITY),
    offset: wholeNumber(offset, 0),
  };
}

/** A whole number, perhaps written as a text; `missing` for anything else. */
function wholeNumber(value: JsonValue | undefined, missing: number): number {
  const number = typeof value === 'string' ? Number(value || Number.NaN) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= 0 ? number : missing;
}

function parsed(text: string): JsonObject | null {
  try {
    return asObject(JSON.parse(text) as JsonObject);
  } catch {
    return null;
  }
}
