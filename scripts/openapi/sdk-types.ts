import { isObject, type JsonObject, type JsonValue } from '../../packages/core/src/index.ts';

/** Operations whose answers the TypeScript SDK takes as types from the OpenAPI document. Receipts and proofs are typed by core. */
const OPERATIONS = [
  'listEvidenceExports',
  'quoteKey',
  'getKeyOrder',
  'buyKey',
  'listKeys',
  'getLimits',
  'updateKey',
  'rotateKey',
  'rotateWebhookSecret',
  'getBalance',
  'getBalanceStatement',
  'quoteTopUp',
  'topUpBalance',
  'requestWithdrawal',
  'listWithdrawals',
  'getLogStatus',
  'listPostings',
  'listLeaves',
  'getCorrections',
  'listReceipts',
  'listTenantReceipts',
  'listAnchors',
  'listSessions',
  'listCalls',
  'countCalls',
  'getCall',
  'listWebhooks',
  'createWebhook',
  'testWebhook',
  'listWebhookDeliveries',
  'getPricing',
  'selectProfile',
  'getDidDocument',
  'getComputeDescriptor',
  'listModels',
  'getModel',
  'estimateChatCompletion',
  'getUsage',
  'rateCall',
  'getCallContent',
  'getCompressionStats',
  'getBenchmark',
  'getSemanticBenchmark',
  'registerMember',
  'getLeaderboard',
  'verifyMember',
  'normalizePolicy',
  'getCrosswalk',
  'qualifyOrigin',
  'getStatus',
  'listPayableResources',
] as const;

/** Components that have a type already, by name, with the module that exports it. */
const KNOWN: Readonly<Record<string, string>> = { EnvelopeReceipt: '../receipts/documents.ts' };

const HEAD = `// Written by e2e/sdk-operations.test.ts from the OpenAPI document of the service; do not edit.
// After a change of the document: TALLY_WRITE_SDK_TYPES=1 npx vitest run e2e/sdk-operations.test.ts
`;

/**
 * TypeScript types of the answers of `OPERATIONS`: a component keeps its name, any other answer is named after its
 * operation (`ListModelsAnswer`). The text is not formatted.
 */
export function sdkTypes(document: JsonObject): string {
  const { schemas } = document['components'] as { schemas: Readonly<Record<string, JsonObject>> };
  const declared = new Map<string, JsonObject>();
  const imported = new Set<string>();
  const waiting: (readonly [string, JsonObject])[] = OPERATIONS.map((operationId) => {
    const schema = answerOf(document, operationId);
    return [nameIn(schema) ?? `${operationId[0]?.toUpperCase()}${operationId.slice(1)}Answer`, schema];
  });
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [name, schema] = next;
    if (name in KNOWN) imported.add(name);
    if (name in KNOWN || declared.has(name)) continue;
    const own = schemas[name] ?? schema;
    declared.set(name, own);
    waiting.push(...namesIn(own).map((used) => [used, {}] as const));
  }
  const imports = [...imported].map((name) => `import type { ${name} } from '${KNOWN[name]}';`);
  const types = [...declared]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, schema]) => `${comment(schema)}export ${declaration(name, schema)}`);
  return [HEAD, ...imports, ...types].join('\n');
}

/** The schema of an operation's successful JSON answer. */
function answerOf(document: JsonObject, operationId: string): JsonObject {
  for (const methods of Object.values(document['paths'] as Record<string, Record<string, JsonObject>>)) {
    for (const operation of Object.values(methods)) {
      if (operation['operationId'] !== operationId) continue;
      const answers = operation['responses'] as Record<string, { content?: Record<string, JsonObject> }>;
      const ok = answers['200'] ?? answers['201'] ?? answers['202'];
      const json = Object.entries(ok?.content ?? {}).find(([type]) => type.endsWith('json'));
      if (json !== undefined) return json[1]['schema'] as JsonObject;
    }
  }
  throw new Error(`The document has no JSON answer of ${operationId}.`);
}

function nameIn({ $ref }: JsonObject): string | undefined {
  return typeof $ref === 'string' ? $ref.split('/').at(-1) : undefined;
}

/** The components that a schema refers to. */
function namesIn(value: JsonValue): string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (!isObject(value)) return [];
  const name = nameIn(value);
  return [...(name === undefined ? [] : [name]), ...Object.values(value).flatMap(namesIn)];
}

function declaration(name: string, schema: JsonObject): string {
  const type = typeOf(schema);
  return type.startsWith('{') && type.endsWith('}') ? `interface ${name} ${type}` : `type ${name} = ${type};`;
}

/** The schema as a type. Throws for a form of schema that the document does not have today. */
function typeOf(schema: JsonObject): string {
  const { type, enum: values, anyOf, allOf } = schema;
  const name = nameIn(schema);
  if (name !== undefined) return name;
  if ('const' in schema) return JSON.stringify(schema['const']);
  if (Array.isArray(values)) return values.map((one) => JSON.stringify(one)).join(' | ');
  if (Array.isArray(anyOf)) return anyOf.map((one) => typeOf(one as JsonObject)).join(' | ');
  if (Array.isArray(allOf)) return allOf.map((one) => typeOf(one as JsonObject)).join(' & ');
  if (Array.isArray(type)) return type.map((one) => typeOf({ ...schema, type: one })).join(' | ');
  switch (type) {
    case 'object':
      return objectType(schema);
    case 'array':
      return `readonly (${typeOf(schema['items'] as JsonObject)})[]`;
    case 'integer':
      return 'number';
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
      return type;
    case undefined:
      return 'unknown';
    default:
      throw new Error(`There is no type for ${JSON.stringify(schema)}.`);
  }
}

function objectType({ properties = {}, required = [], additionalProperties: others }: JsonObject): string {
  const members = Object.entries(properties as Record<string, JsonObject>).map(([name, member]) => {
    const mark = (required as string[]).includes(name) ? '' : '?';
    return `${comment(member)}readonly ${JSON.stringify(name)}${mark}: ${typeOf(member)};`;
  });
  if (isObject(others)) {
    // A member beside the listed ones may have any type that a listed one has.
    const type = members.length === 0 ? typeOf(others) : 'unknown';
    members.push(`readonly [name: string]: ${type};`);
  }
  return `{\n${members.join('\n')}\n}`;
}

function comment({ description }: JsonObject): string {
  return typeof description === 'string' ? `/** ${description.replaceAll('*/', '*\\/')} */\n` : '';
}
