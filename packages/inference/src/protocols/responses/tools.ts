import type { JsonObject, JsonValue } from '@tallystick/core';
import { asObject, objectsOf, present } from '../../providers/members.ts';
import { unsupportedMember } from '../protocol.ts';

/** The tools of a request in chat's form. */
export interface Tools {
  readonly tools: readonly JsonObject[];
  readonly choice: JsonValue | undefined;
  /** Members that only a provider with the same API can take. */
  readonly nativeOnly: readonly string[];
}

/** Members of a function that every provider understands. */
const FUNCTION: ReadonlySet<string> = new Set(['type', 'name', 'description', 'parameters', 'strict']);

/** @throws invalid_request */
export function toolsOf(body: JsonObject): Tools {
  const nativeOnly: string[] = [];
  const named = new Map<JsonValue | undefined, JsonObject>();
  const tools = objectsOf(body['tools']).map((tool, index) => {
    const { name } = tool;
    const field = `tools[${index}]`;
    if (tool['type'] !== 'function') {
      nativeOnly.push(`${field}.type`);
      return tool;
    }
    if (typeof name !== 'string') throw unsupportedMember(`${field}.name`, 'a function needs a name.');
    for (const [member, value] of Object.entries(tool))
      if (!FUNCTION.has(member) && value !== null && value !== false) nativeOnly.push(`${field}.${member}`);
    const translated = functionOf(tool);
    named.set(name, translated);
    return translated;
  });
  if (tools.length === 0) return { tools, choice: undefined, nativeOnly };
  return { ...chosen(body['tool_choice'], tools, named, nativeOnly), nativeOnly };
}

function functionOf({ name, description, parameters, strict }: JsonObject): JsonObject {
  return {
    type: 'function',
    function: present({
      name,
      description: description ?? undefined,
      parameters: parameters ?? undefined,
      strict: strict ?? undefined,
    }),
  };
}

/** A choice among some of the tools offers only those. */
function chosen(
  choice: JsonValue | undefined,
  tools: readonly JsonObject[],
  named: ReadonlyMap<JsonValue | undefined, JsonObject>,
  nativeOnly: string[],
): Pick<Tools, 'tools' | 'choice'> {
  const asked = asObject(choice);
  if (asked === null) return { tools, choice: choice ?? undefined };
  if (asked['type'] === 'function')
    return { tools, choice: { type: 'function', function: { name: asked['name'] ?? '' } } };
  const allowed = objectsOf(asked['tools']).map(({ name }) => named.get(name));
  const known = allowed.filter((tool) => tool !== undefined);
  if (asked['type'] === 'allowed_tools' && known.length === allowed.length && known.length > 0)
    return { tools: known, choice: asked['mode'] ?? 'auto' };
  nativeOnly.push('tool_choice');
  return { tools, choice: undefined };
}
