import { TallyError } from '../errors.ts';
import { type InnerList, type Item, serializeInnerList, serializeItem } from './structured-fields.ts';

/**
 * Parts of an absolute URL that a signature may cover. A `URL` has them; this type does not name it, so that the package compiles
 * without the types of the web platform.
 */
export interface RequestUrl {
  readonly origin: string;
  /** With the colon, such as `https:`. */
  readonly protocol: string;
  readonly host: string;
  readonly pathname: string;
  /** With the question mark; empty if there is no query. */
  readonly search: string;
}

/** A request as a signature sees it. */
export interface RequestMessage {
  readonly method: string;
  readonly url: RequestUrl;
  /** A header field by its lower-case name, its lines joined by `, `. */
  readonly header: (name: string) => string | undefined;
}

/**
 * The text that is signed (RFC 9421, section 2.5).
 * @throws signature_invalid for a component that the request doesn't have, that is covered twice, or that is not one
 * of a request's own (section 2.2, without `@query-param`) or a whole header field
 */
export function signatureBase(covered: InnerList, request: RequestMessage): string {
  const lines = covered.items.map((item) => `${serializeItem(item)}: ${componentValue(item, request)}`);
  const repeated = covered.items.find(
    ({ value }, index) => covered.items.findIndex((other) => other.value === value) !== index,
  );
  if (repeated !== undefined) throw invalid(`covers ${serializeItem(repeated)} twice`);
  return [...lines, `"@signature-params": ${serializeInnerList(covered)}`].join('\n');
}

function componentValue(item: Item, { method, url, header }: RequestMessage): string {
  const { value: name, parameters } = item;
  if (typeof name !== 'string' || parameters.size > 0) {
    throw invalid(`covers ${serializeItem(item)}, which is not supported`);
  }
  switch (name) {
    case '@method':
      return method;
    case '@target-uri':
      return targetUri(url);
    case '@authority':
      return url.host;
    case '@scheme':
      return url.protocol.slice(0, -1);
    case '@request-target':
      return url.pathname + url.search;
    case '@path':
      return url.pathname;
    case '@query':
      return url.search || '?';
    default:
      return fieldValue(name, header);
  }
}

/** The URL without its fragment, which is not sent. */
function targetUri(url: RequestUrl): string {
  return url.origin + url.pathname + url.search;
}

function fieldValue(name: string, header: RequestMessage['header']): string {
  if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name)) throw invalid(`covers "${name}", which is not supported`);
  const value = header(name);
  if (value === undefined) throw invalid(`covers "${name}", which the request does not have`);
  return value.trim();
}

/** @param what the end of a sentence about the signature */
export function invalid(what: string): TallyError {
  return new TallyError('signature_invalid', `The message signature ${what}.`);
}
