import { keyLimits, setKeyLimits } from '@tallystick/callers';
import { print, printJson } from '@tallystick/cli/toolkit';
import type { JsonValue } from '@tallystick/core';
import { checkLimits } from '@tallystick/inference';
import { requireDatabase, serviceConfig, withStore } from './files.ts';

/**
 * Sets the limits of a key or of a DID's account, or shows them.
 * @param who id of a key, or a DID
 * @param limits members to replace, null for none at all; undefined to show them
 * @throws unknown_field, invalid_field; api_key_invalid where there is no key of that id
 */
export async function limit(
  who: string,
  limits: JsonValue | undefined,
  { json }: { json?: boolean },
): Promise<void> {
  const given = limits === undefined ? undefined : limits === null ? null : checkLimits(limits);
  const config = serviceConfig();
  requireDatabase(config);
  const set: object = await withStore(config, (store) =>
    given === undefined ? keyLimits(store, who) : setKeyLimits(store, who, given),
  );
  if (json) printJson({ id: who, limits: set as JsonValue });
  else
    print(
      Object.keys(set).length === 0
        ? `${who} has no limits.`
        : `${who} is limited to ${JSON.stringify(set)}.`,
    );
}
