import type { Operation, Parameter } from './operation.ts';

/** A command that works when it is pasted into a shell; unknown path parameters become shell variables. */
export function curlOf(
  { method, path, parameters, credentials, body, responses }: Operation,
  baseUrl: string,
): string {
  const filled = parameters.filter((one) => one.in === 'path').reduce(fill, path);
  const implied = body === undefined ? 'get' : 'post';
  const verb = method === implied ? '' : `-X ${method.toUpperCase()} `;
  const redirects = responses.some(({ status }) => status.startsWith('3'));
  const lines = [`curl -sS${redirects ? 'L' : ''} ${verb}"${baseUrl}${filled}"`];
  const [first = []] = credentials;
  const key = first.length === 1 ? KEYS[first[0] ?? ''] : undefined;
  if (key !== undefined) lines.push(`-H "Authorization: Bearer $${key}"`);
  if (body !== undefined) {
    lines.push(
      `-H 'Content-Type: application/json'`,
      `-d '${JSON.stringify(body.example ?? {}, null, 2).replaceAll("'", String.raw`'\''`)}'`,
    );
  }
  return lines.join(' \\\n  ');
}

/** Shell variables of the keys that `Authorization: Bearer` carries, by security scheme. */
const KEYS: Readonly<Record<string, string>> = {
  apiKey: 'API_KEY',
  tenantKey: 'TENANT_KEY',
  partnerKey: 'PARTNER_KEY',
};

function fill(path: string, { name, schema }: Parameter): string {
  const example = schema.example ?? schema.examples?.[0];
  return path.replace(`{${name}}`, typeof example === 'string' ? example : `$${name.toUpperCase()}`);
}
