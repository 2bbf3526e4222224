import type { Documents } from '../documents.ts';
import { type Answer, type Inspection, isDocument } from '../inspection.ts';

const DAY_SECONDS = 86_400;
const JSON_TYPE = /^application\/(?:[\w!#$&^.+-]+\+)?json\s*(?:;|$)/i;

/** Checks the headers of the public documents. */
export async function checkHeaders({ found, well }: Inspection, documents: Documents): Promise<boolean> {
  const { descriptor, openapi, trust, did, jwks, pricing } = documents;
  const read = (list: readonly (Answer | null)[]): Answer[] =>
    list.filter((answer) => answer !== null).filter(isDocument);
  const all = read([trust, did, jwks, openapi, descriptor, pricing]);
  if (all.length === 0) return false;
  const header = ({ headers }: Answer, name: string): string => headers.get(name) ?? '';
  const without = (list: readonly Answer[], name: string, pattern: RegExp): Answer | undefined =>
    list.find((answer) => !pattern.test(header(answer, name)));

  const sniffed = without(all, 'x-content-type-options', /^nosniff$/i);
  if (sniffed !== undefined) found('header_nosniff', 'A document is served without this header.', sniffed);
  const unlabelled = without(all, 'content-type', JSON_TYPE);
  if (unlabelled !== undefined)
    found(
      'header_content_type',
      `The type is ${header(unlabelled, 'content-type') || 'missing'}.`,
      unlabelled,
    );
  const closed = without(read([trust, did, jwks]), 'access-control-allow-origin', /^\*$/);
  if (closed !== undefined)
    found('header_cors', 'Pages of other origins can’t read a document with keys.', closed);
  const stale = read([trust, did, jwks]).find((answer) => keptTooLong(header(answer, 'cache-control')));
  if (stale !== undefined)
    found('header_cache', `Cache-Control is ${header(stale, 'cache-control')}.`, stale);
  well('headers', `Documents checked: ${all.length}.`);
  return true;
}

function keptTooLong(control: string): boolean {
  const ages = [...control.matchAll(/\b(?:s-maxage|max-age)\s*=\s*"?(\d{1,10})/gi)];
  return /\bimmutable\b/i.test(control) || ages.some(([, age]) => Number(age) > DAY_SECONDS);
}
