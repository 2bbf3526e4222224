import { isDid, TallyError } from '@tallystick/core';
import type { Incoming } from '@tallystick/kit';

/** The DID of the `X-Agent-DID` header: what the caller says, not proved. @throws invalid_field */
export function agentHeader(incoming: Incoming): string | null {
  const did = incoming.header('x-agent-did');
  if (did === undefined) return null;
  if (!isDid(did))
    throw new TallyError('invalid_field', 'X-Agent-DID is not a DID.', { field: 'X-Agent-DID' });
  incoming.tell({ did, didProved: false });
  return did;
}
