import { setKeyRouting } from '@tallystick/callers';
import { print, printJson } from '@tallystick/cli/toolkit';
import type { JsonValue } from '@tallystick/core';
import { checkKeyRouting } from '@tallystick/inference';
import { requireDatabase, serviceConfig, withStore } from './files.ts';

/**
 * Sets how the calls of a key are routed.
 * @param routing null for nothing
 * @throws unknown_field, invalid_field for what no call could say; api_key_invalid where there is no key of that id
 */
export async function route(id: string, routing: JsonValue, { json }: { json?: boolean }): Promise<void> {
  if (routing !== null) checkKeyRouting(routing);
  const config = serviceConfig();
  requireDatabase(config);
  await withStore(config, (store) => setKeyRouting(store, id, routing));
  if (json) printJson({ id, routing });
  else
    print(
      routing === null
        ? `The calls of ${id} are routed as they say.`
        : `${id} is routed by ${JSON.stringify(routing)}.`,
    );
}
