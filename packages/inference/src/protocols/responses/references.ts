import { asObject, asText, objectsOf } from '../../providers/members.ts';
import type { ItemReferences } from '../protocol.ts';

/** How the AI SDK names itself: it refers to earlier text and reasoning unless it is told `store: false`. */
const AI_SDK = /\bai-sdk[/-]/;
const REFERENCE = 'item_reference';

/** References of the Responses API to items of earlier answers. */
export const itemReferences: ItemReferences = {
  expected: ({ store }, header) =>
    (store === undefined || store === null) && AI_SDK.test(header('user-agent') ?? ''),
  idsIn: ({ input }) =>
    objectsOf(input).flatMap(({ type, id }) => (type === REFERENCE ? [asText(id) ?? ''] : [])),
  resolved: (body, items) => ({
    ...body,
    input: objectsOf(body['input']).map((item) =>
      item['type'] === REFERENCE ? (items.get(asText(item['id']) ?? '') ?? item) : item,
    ),
  }),
  of: (answer) => objectsOf((asObject(answer['response']) ?? answer)['output']),
  ask: ({ include }) => ({
    include: [...new Set([...(Array.isArray(include) ? include : []), 'reasoning.encrypted_content'])],
  }),
};
