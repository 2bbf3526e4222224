import type { Operation, Parameter } from './operation.ts';

/** A command that works when it is pasted into a shell; unknown path parameters become shell variables. */
export function curlOf({ method, path, parameters, body, responses }: Operation, baseUrl: string): string {
  const filled = parameters.filter((one) => one.in === 'path').reduce(fill, path);
  const implied = body === undefined ? 'get' : 'post';
  const verb = method === implied ? '' : `-X ${method.toUpperCase()} `;
  const redirects = responses.some(({ status }) => status.startsWith('3'));
  const lines = [`curl -sS${redirects ? 'L' : ''} ${verb}"${baseUrl}${filled}"`];
  if (body !== undefined) {
    lines.push(
      `-H 'Content-Type: application/json'`,
      `-d '${JSON.stringify(body.example ?? {}, null, 2).replaceAll("'", String.raw`'\''`)}'`,
    );
  }
  return lines.join(' \\\n  ');
}

function fill(path: string, { name, schema }: Parameter): string {
  const example = schema.example ?? schema.examples?.[0];
  return path.replace(`{${name}}`, typeof example === 'string' ? example : `$${name.toUpperCase()}`);
}
