/** The servers that a URL of PostgreSQL names, and what one of them must be like to be used. */
export interface PostgresServers {
  /** One URL for each host, in the order of the URL. */
  readonly urls: readonly string[];
  /** `read-write`: it takes writes. `primary`: it is not in recovery. Null: whatever answers. */
  readonly must: 'read-write' | 'primary' | null;
}

const TARGET = 'target_session_attrs';

/**
 * Reads a URL with one host or several, as libpq does (PostgreSQL documentation, section 34.1.1.3). Where it names several,
 * `target_session_attrs` is `read-write` unless it says `primary`: the service has no use for a server that only reads.
 * @returns null where it is no such URL, or asks for another kind of session
 */
export function readPostgresUrl(text: string): PostgresServers | null {
  const [, scheme = '', user = '', hosts = '', rest = ''] =
    /^(postgres(?:ql)?:\/\/)((?:[^/?#]*@)?)([^/?#@]*)(.*)$/s.exec(text) ?? [];
  const urls = hosts.split(',').map((host) => `${scheme}${user}${host}${rest}`);
  if (scheme === '' || !urls.every((url) => URL.canParse(url))) return null;
  if (urls.length > 1 && hosts.split(',').includes('')) return null;
  const asked = new URL(urls[0] ?? '').searchParams.get(TARGET);
  if (asked !== null && asked !== 'read-write' && asked !== 'primary') return null;
  return {
    urls: asked === null ? urls : urls.map(withoutTarget),
    must: asked ?? (urls.length > 1 ? 'read-write' : null),
  };
}

/** The driver would send it to the server, which does not know it. */
function withoutTarget(text: string): string {
  const url = new URL(text);
  url.searchParams.delete(TARGET);
  return url.href;
}
