/** Public origins of the service, without a trailing slash. */
export interface PublicOrigins {
  readonly receiptsUrl: string;
  readonly apiUrl: string;
  readonly siteUrl: string;
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/**
 * The URLs at which clients may know what a request asks for: its path and query below each public address of the
 * configuration. One on loopback goes by each of its names. `Host` has no say in it.
 */
export function publicUrls({ receiptsUrl, apiUrl, siteUrl }: PublicOrigins): (requested: string) => URL[] {
  const bases = new Set([apiUrl, receiptsUrl, siteUrl].flatMap(namesOf));
  return (requested) => {
    const { pathname, search } = new URL(requested);
    return [...bases].map((base) => new URL(base + pathname + search));
  };
}

function namesOf(base: string): string[] {
  const url = new URL(base);
  if (!LOOPBACK.includes(url.hostname)) return [base];
  return LOOPBACK.map((name) => {
    const named = new URL(url);
    named.hostname = name;
    return named.href.replace(/\/$/, '');
  });
}
