import { parseJson, utf8 } from '@tallystick/core';

/** A JSON document that this service wrote into its own store, which is believed: nothing checks that it is a `T`. */
// oxlint-disable-next-line no-unnecessary-type-parameters -- The caller says what it wrote there; a cast at each would hide that.
export function ownDocument<T>(text: string): T {
  return parseJson(utf8(text)) as T;
}
