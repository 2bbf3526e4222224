import type { JsonObject, JsonValue } from './types.ts';

/** Sets an own member, also one named `__proto__`, for which plain assignment would change the prototype. */
export function setMember(object: JsonObject, name: string, value: JsonValue): void {
  if (name === '__proto__') {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  } else {
    object[name] = value;
  }
}
