import { isIP } from 'node:net';
import { TallyError } from '@tallystick/core';
import type { Config } from '../config/config.ts';
import { type AppContext, header } from '../http/context.ts';

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Refuses what a page could send by DNS rebinding, and pages of other origins. `Host` must be an address, which nobody
 * can rebind, or a name of this service; `Origin`, if sent, must be of this service, of this machine or of
 * TALLY_MCP_HOSTS.
 * @throws origin_not_allowed
 */
export function createGuard(
  config: Pick<Config, 'receiptsUrl' | 'apiUrl' | 'siteUrl' | 'mcpHosts'>,
): (c: AppContext) => void {
  const own = [config.receiptsUrl, config.apiUrl, config.siteUrl].map((url) => new URL(url).hostname);
  const known = new Set([...LOOPBACK, ...own, ...config.mcpHosts]);
  return (c) => {
    const host = hostnameOf(`http://${header(c, 'host') ?? new URL(c.req.url).host}`);
    if (host === null || !(known.has(host) || isAddress(host))) throw refusal('Host', host);
    const origin = header(c, 'origin');
    if (origin === undefined) return;
    const page = hostnameOf(origin);
    if (page === null || !known.has(page)) throw refusal('Origin', page);
  };
}

function hostnameOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).hostname : null;
}

function isAddress(hostname: string): boolean {
  return isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0;
}

function refusal(header: 'Host' | 'Origin', name: string | null): TallyError {
  return new TallyError(
    'origin_not_allowed',
    `${header} names ${name ?? 'no host'}, which does not belong to this service. The operator can add names with TALLY_MCP_HOSTS.`,
    { field: header },
  );
}
