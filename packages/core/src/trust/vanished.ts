import { logsOf, postersOf } from './authority.ts';
import type { TrustBundle } from './bundle.ts';

/**
 * What an earlier bundle lists and a later one neither lists nor has in its history: logs, posting accounts, verified issuers
 * and their keys. One sentence each; none if whatever was verified by the earlier bundle is verified by the later one.
 */
export function vanished(earlier: TrustBundle, later: TrustBundle): string[] {
  const logs = new Set(logsOf([later]).map(({ origin, public_key }) => `${origin} ${public_key}`));
  const accounts = new Set(postersOf([later]).map(nameOf));
  const keys = new Set(later.issuers.flatMap((record) => keysOf(record)));
  const verified = earlier.issuers.filter(({ status }) => status === 'verified');
  return [
    ...logsOf([earlier])
      .filter(({ origin, public_key }) => !logs.has(`${origin} ${public_key}`))
      .map(({ origin, key_id }) => `The log ${origin} with the key ${key_id}`),
    ...postersOf([earlier])
      .filter((poster) => !accounts.has(nameOf(poster)))
      .map(
        ({ address, network, origin }) => `The account ${address} on ${network}, which posted for ${origin}`,
      ),
    ...verified
      .flatMap((record) => keysOf(record))
      .filter((key) => !keys.has(key))
      .map((key) => `The key ${key.replace(' ', ' of ')}`),
  ].map((what) => `${what} is neither listed any more nor in the history.`);
}

const nameOf = ({ origin, network, chain_id, address }: ReturnType<typeof postersOf>[number]): string =>
  JSON.stringify([origin, network, chain_id, address.toLowerCase()]);

function keysOf({ did, keys, pq_keys = [] }: TrustBundle['issuers'][number]): string[] {
  return [...keys, ...pq_keys].map(({ key_id }) => `${key_id} ${did}`);
}
