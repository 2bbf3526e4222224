import { TallyError } from '@tallystick/core';

/** Addresses of a service; the specification calls them {receipts_url}, {api_url} and {site_url}. */
export interface Addresses {
  /**
   * URL of the receipts, `https://receipts.example.com`, and of all else that has no address of its own. When absent: the
   * environment variable `TALLY_URL`, else `http://127.0.0.1:8787`, as for the command line.
   */
  readonly baseUrl?: string | undefined;
  /** URL of anchors, log, balances, keys, inference and issuer registration: `baseUrl` when absent. */
  readonly apiUrl?: string | undefined;
  /** URL of issuer records, trust bundles and DID document: `baseUrl` when absent. No credential is sent there. */
  readonly siteUrl?: string | undefined;
}

/** The URL to which a path is appended, and whether the path is one of the site's. */
interface Place {
  readonly url: string;
  readonly isSite: boolean;
}

const API =
  /^\/(?:v1\/(?:anchors?|balance|compute|issuers|keys|limits|log)(?:[/?]|$)|checkpoint$|tile\/|mcp$|\.well-known\/x402$)/;
const SITE = /^\/\.well-known\/(?:(?:issuers|trust)\/|(?:did|trust)\.json$)/;

/** Returns a function that finds the place of a path. @throws invalid_field for an invalid address */
export function placesOf(addresses: Addresses): (path: string) => Place {
  const { baseUrl = defaultUrl(), apiUrl = baseUrl, siteUrl = baseUrl } = addresses;
  const receipts = urlOf(baseUrl, 'baseUrl');
  const api = urlOf(apiUrl, 'apiUrl');
  const site = urlOf(siteUrl, 'siteUrl');
  return (path) =>
    SITE.test(path) ? { url: site, isSite: true } : { url: API.test(path) ? api : receipts, isSite: false };
}

/** Address of a service on this machine, unless the environment names another. Browsers have no environment. */
function defaultUrl(): string {
  const { process } = globalThis as { process?: { env?: Readonly<Record<string, string | undefined>> } };
  return process?.env?.['TALLY_URL'] || 'http://127.0.0.1:8787';
}

/** The URL without a trailing slash: scheme, host, port and perhaps a path. @throws invalid_field */
function urlOf(text: string, field: keyof Addresses): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw invalid(`“${text}” is not the URL of a service, such as https://receipts.example.com.`, field);
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw invalid('The URL of a service has no credentials, query or fragment.', field);
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

function invalid(message: string, field: string): TallyError {
  return new TallyError('invalid_field', message, { field });
}
